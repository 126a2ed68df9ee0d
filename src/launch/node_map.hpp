// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The node of each rank of a job, as its launcher has told.

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::launch {

/// Rank -> number of its node. Empty: not told.
using NodeMap = std::vector<std::int32_t>;

/// Returns whether the map has two nodes or more.
bool has_several_nodes(const NodeMap& map) noexcept;

/// Reads PMI-1's value PMI_process_mapping, "(vector,(FIRST_NODE,NODES,RANKS_EACH),...)", for so
/// many ranks. It has blocks of ranks, and begins again with the first block if ranks are left.
/// Hydra 5 also writes "[BLOCK,...]xTIMES" for blocks that repeat, and the node alone for a block
/// of one rank. Returns an empty map for any other text.
NodeMap read_process_mapping(std::string_view text, int ranks);

}  // namespace heddle::launch

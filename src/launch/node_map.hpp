// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Which node each rank of a job is on, as its launcher has said.

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::launch {

/// Rank -> number of its node. Empty: not told.
using NodeMap = std::vector<std::int32_t>;

/// How many nodes there are in it.
std::size_t count_nodes(const NodeMap& map);

/// PMI-1's value PMI_process_mapping, "(vector,(FIRST_NODE,NODES,RANKS_EACH),...)", for so many ranks: blocks of
/// ranks, and again from the first block on if ranks are left. Hydra 5 also writes "[BLOCK,...]xTIMES" for blocks
/// that repeat, and the node alone for a block of one rank. Empty for anything else.
NodeMap read_process_mapping(std::string_view text, int ranks);

}  // namespace heddle::launch

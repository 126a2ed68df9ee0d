// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The file of a job's memory: made by one, found by the others through a descriptor or a path, which may
/// name anything by the time it is looked at. So whoever makes it settles its size and marks it, and whoever
/// finds it looks for that before anything is written.
///
/// Contents       launch/board.hpp, and behind the board what transport/shm/node.hpp lays out.

#include <cstddef>
#include <string>

#include "launch/token.hpp"

namespace heddle::launch {

/// What is to be found.
struct NodeFile {
    std::size_t ranks;
    Token token;

    /// Throws std::runtime_error if so many are too many.
    static NodeFile of(int ranks, const Token& token);
};

/// As large as the ranks need it, with as many stages as a limit on the size of files leaves room for. The
/// descriptor, closed on exec, is the caller's. Throws std::runtime_error with what was refused.
int create_node_file(const NodeFile& file);

/// Empty if the descriptor, open for reading at least, is the file; else what it is instead.
std::string what_else(int descriptor, const NodeFile& file);

/// Opens the file behind a path of /proc for reading and writing. Throws std::runtime_error.
int open_node_file(const std::string& path, const NodeFile& file);

/// Takes the place of `rank` for this process; 0 if it is this one's now, else the process id of whoever has
/// taken it before. Throws std::runtime_error if the board cannot be mapped.
std::uint32_t claim_rank(int descriptor, const NodeFile& file, std::size_t rank);

}  // namespace heddle::launch

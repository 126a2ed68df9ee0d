// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The file of a job's memory: made by one, found by the others through a descriptor or a path, which may
/// name anything by the time it is looked at. So whoever makes it settles its size and marks it, and whoever
/// finds it looks for that before anything is written.
///
/// Contents       node/board.hpp, and behind the board what node/node.hpp lays out.

#include <cstddef>
#include <string>

#include "node/token.hpp"

namespace heddle::node {

/// What is to be found.
struct File {
    std::size_t ranks;
    Token token;

    /// Throws std::runtime_error if so many are too many.
    static File of(int ranks, const Token& token);
};

/// As large as the ranks need it, with as many stages as a limit on the size of files leaves room for. The
/// descriptor, closed on exec, is the caller's. Throws std::runtime_error with what was refused.
int create_file(const File& file);

/// Empty if the descriptor, open for reading at least, is the file; else what it is instead.
std::string what_else(int descriptor, const File& file);

/// Opens the file behind a path of /proc for reading and writing. Throws std::runtime_error.
int open_file(const std::string& path, const File& file);

/// Takes the place of `rank` for this process; 0 if it is this one's now, else the process id of whoever has
/// taken it before. Throws std::runtime_error if the board cannot be mapped.
std::uint32_t claim_rank(int descriptor, const File& file, std::size_t rank);

}  // namespace heddle::node

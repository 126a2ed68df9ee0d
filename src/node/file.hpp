// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The file of a job's memory. One process makes it; the others find it through a descriptor or a
/// path. Either may name anything by the time a process looks at it. So the maker settles the size
/// and marks the file. A finder checks both before anything is written.
///
/// Contents       node/board.hpp, and behind the board what node/node.hpp lays out.

#include <cstddef>
#include <string>

#include "node/token.hpp"

namespace heddle::node {

/// The file that is to be found.
struct File {
    std::size_t ranks;
    Token token;

    /// Throws std::runtime_error if there are too many ranks for one machine.
    static File of(int ranks, const Token& token);
};

/// Makes a file as large as the ranks need it. It has as many stages as a limit on the size of
/// files leaves room for. The descriptor, closed on exec, is the caller's. Throws
/// std::runtime_error with what was refused.
int create_file(const File& file);

/// Returns an empty string if the descriptor, open for reading at least, is the file; else what it
/// is instead.
std::string what_else(int descriptor, const File& file);

/// Opens the file behind a path of /proc for reading and writing. Throws std::runtime_error.
int open_file(const std::string& path, const File& file);

/// Takes the place of `rank` for this process. Returns 0 if this process has it now, else the id of
/// the process that has taken it before. Throws std::runtime_error if the board cannot be mapped.
std::uint32_t claim_rank(int descriptor, const File& file, std::size_t rank);

}  // namespace heddle::node

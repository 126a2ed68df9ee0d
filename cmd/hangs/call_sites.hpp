// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The places of the program's MPI calls. They are lines, "ring.c:12", by the addr2line of
/// binutils, if it is installed and the program was compiled with -g. Otherwise they are
/// "ring+0x1234", the file and the offset in it.

#include <chrono>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "snapshot.hpp"

namespace heddle::hangs {

/// Finds the file of each address. The ranks must still live.
class CallSites {
public:
    explicit CallSites(const Snapshot& snapshot);

    /// Fills in the locations of the same snapshot. Asks addr2line for lines, for at most `limit`
    /// in all.
    void resolve(Snapshot& snapshot, std::chrono::milliseconds limit) const;

private:
    struct Site {
        std::string file;          ///< path of the module; empty if it is unknown
        std::uint64_t offset = 0;  ///< in the file
        bool operator<(const Site& other) const {
            return std::tie(file, offset) < std::tie(other.file, other.offset);
        }
    };
    static Site find(pid_t pid, std::uint64_t address);

    std::map<std::pair<pid_t, std::uint64_t>, Site> sites_;
};

}  // namespace heddle::hangs

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Where the program has made its MPI calls: "ring.c:12" by the addr2line of binutils, where that is installed and
/// the program has been compiled with -g; else "ring+0x1234", the file and the place in it.

#include <chrono>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "snapshot.hpp"

namespace heddle::hangs {

/// Finds out in which file each address lies: while the ranks live.
class CallSites {
public:
    explicit CallSites(const Snapshot& snapshot);

    /// Fills in the locations of the same snapshot. Asks addr2line for lines, for at most `limit` in all.
    void resolve(Snapshot& snapshot, std::chrono::milliseconds limit) const;

private:
    struct Site {
        std::string file;          ///< path of the module; empty: not known
        std::uint64_t offset = 0;  ///< in the file
        bool operator<(const Site& other) const {
            return std::tie(file, offset) < std::tie(other.file, other.offset);
        }
    };
    static Site find(pid_t pid, std::uint64_t address);

    std::map<std::pair<pid_t, std::uint64_t>, Site> sites_;
};

}  // namespace heddle::hangs

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The node's shared memory: made here, without a name, enlarged and used by the ranks.
///
/// The launcher looks at the notice board at its start (launch/board.hpp) and at nothing else. The
/// memory is sealed against shrinking, so that looking is safe whatever a rank does.

#include <string>
#include <vector>

#include "launch/board.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

/// A thread asleep in an MPI call, as its rank wrote it on the board.
struct BlockedThread {
    std::uint32_t thread = 0;
    double seconds = 0;
    std::string call;
};

class NodeMemory {
public:
    /// Makes room for the pages of `ranks` ranks, or Failure.
    explicit NodeMemory(int ranks);
    ~NodeMemory();
    NodeMemory(const NodeMemory&) = delete;
    NodeMemory& operator=(const NodeMemory&) = delete;

    [[nodiscard]] int fd() const { return fd_.get(); }

    [[nodiscard]] launch::Stage stage(int rank) const;
    [[nodiscard]] int abort_code(int rank) const;
    [[nodiscard]] std::string abort_reason(int rank) const;
    [[nodiscard]] std::vector<BlockedThread> blocked(int rank) const;

private:
    [[nodiscard]] const launch::Page& page(int rank) const;

    UniqueFd fd_;
    void* board_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace heddle::mpiexec

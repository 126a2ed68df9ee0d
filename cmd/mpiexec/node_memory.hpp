// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The node's shared memory: made here, without a name, used by the ranks.
///
/// The launcher looks at the notice board at its start (node/board.hpp) and at nothing else. The
/// size of the memory is sealed, so that looking is safe whatever a rank does.

#include <string>

#include "node/board.hpp"
#include "node/file.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

class NodeMemory {
public:
    /// Makes room for the pages of `ranks` ranks, or Failure.
    explicit NodeMemory(int ranks);
    ~NodeMemory();
    NodeMemory(const NodeMemory&) = delete;
    NodeMemory& operator=(const NodeMemory&) = delete;

    [[nodiscard]] int fd() const { return fd_.get(); }
    /// What a rank finds it by: the descriptor, and the job's token.
    [[nodiscard]] std::string name_for_ranks() const;

    [[nodiscard]] node::Phase phase(int rank) const;
    [[nodiscard]] int abort_code(int rank) const;
    [[nodiscard]] std::string abort_reason(int rank) const;
    [[nodiscard]] const node::Page& page(int rank) const;

private:
    node::File file_;
    UniqueFd fd_;
    void* board_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace heddle::mpiexec

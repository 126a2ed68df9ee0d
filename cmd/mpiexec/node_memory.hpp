// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The node's shared memory, which mpiexec makes, without a name, for the ranks.
///
/// The launcher reads the notice board at the memory's start (node/board.hpp) and nothing else. The
/// size of the memory is sealed, so that reading is safe whatever a rank does.

#include <string>

#include "node/board.hpp"
#include "node/file.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

class NodeMemory {
public:
    /// Makes room for the pages of `ranks` ranks, or throws Failure.
    explicit NodeMemory(int ranks);
    ~NodeMemory();
    NodeMemory(const NodeMemory&) = delete;
    NodeMemory& operator=(const NodeMemory&) = delete;

    [[nodiscard]] int fd() const { return fd_.get(); }
    /// Returns the name by which a rank finds it: the descriptor, and the job's token.
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

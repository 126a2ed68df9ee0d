// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The ranks of a job that is not there, in one address space: each has what it alone keeps of a communicator of all of them,
/// so that collectives write its schedule as in a job.
///
/// What is shared  by the ranks of a node: scratch memory, where there are few enough of them. By all: one process, alone in a job
///                 of its own, in whose name schedules are written.

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/rank.hpp"
#include "core/thread.hpp"
#include "launch/regular_map.hpp"
#include "objects/communicator.hpp"
#include "objects/operation.hpp"
#include "platform/memory.hpp"

namespace heddle::scale {

class Ranks {
public:
    /// Throws std::runtime_error where there is no memory.
    explicit Ranks(const launch::RegularMap& map);
    ~Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    std::int32_t size() const noexcept { return map_.ranks; }
    const launch::RegularMap& map() const noexcept { return map_; }
    std::int32_t node_of(std::int32_t rank) const noexcept { return map_.node_of(rank); }
    objects::Communicator& operator[](std::int32_t rank) noexcept {
        return communicators_[static_cast<std::size_t>(rank)];
    }
    core::Thread& writer() noexcept { return writer_; }
    /// Sums of doubles, whose bits follow the order of operands, or of integers, whose do not.
    objects::Reduction sum(bool of_doubles) const;
    /// What the communicator of a rank takes of its memory: itself, and which rank is on which node.
    std::uint64_t bytes_of_rank(std::int32_t rank) const noexcept;

private:
    class Alone;

    void place(std::int32_t rank);

    const launch::RegularMap map_;
    const std::unique_ptr<Alone> alone_;
    core::Thread writer_;
    platform::Mapping scratch_;  ///< of node after node; none where ranks share none
    const std::unique_ptr<objects::Communicator[]> communicators_;
};

}  // namespace heddle::scale

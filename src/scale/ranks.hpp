// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The ranks of a simulated job, in one address space. Each has its own part of a communicator of
/// all of them. So collectives write its schedule as in a job.
///
/// What is shared  by the ranks of a node: scratch memory, if they are few enough. By all: one
///                 process, alone in a job of its own, in whose name schedules are written.

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
    /// Throws std::runtime_error if there is no memory.
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
    /// Returns a sum of doubles, whose bits depend on the order of operands, or of integers, whose
    /// bits do not.
    objects::Reduction sum(bool of_doubles) const;
    /// Returns the memory of a rank's communicator: itself, and which rank is on which node.
    std::uint64_t bytes_of_rank(std::int32_t rank) const noexcept;

private:
    class Alone;

    void place(std::int32_t rank);

    const launch::RegularMap map_;
    const std::unique_ptr<Alone> alone_;
    core::Thread writer_;
    platform::Mapping scratch_;  ///< node after node; empty if ranks share none
    const std::unique_ptr<objects::Communicator[]> communicators_;
};

}  // namespace heddle::scale

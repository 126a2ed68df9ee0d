// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Stages: memory of the node in which several processes work on the same data.
///
/// The process that takes one for all of them tells the others. It is free again when each of them has left it.
/// Thread safety  every function from any thread, but unmap(), while nobody uses one.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "node/segments.hpp"
#include "platform/memory.hpp"

namespace heddle::node {

inline constexpr std::size_t most_stages = 64;  ///< one bit each in StageBoard::used
/// Of these, pages that nobody touches do not exist.
inline constexpr std::size_t stage_bytes = (6 << 20) + (64 << 10);

struct StageBoard {
    std::atomic<std::uint64_t> used;
    std::atomic<std::uint32_t> users[most_stages];
};

/// Memory of stage_bytes: a stage, or where all are in use, a segment. Neither: none.
struct Stage {
    std::int32_t number = -1;
    Segment segment;
    explicit operator bool() const noexcept { return number >= 0 || segment; }
};

class Stages {
public:
    /// There are `number`, from `begin` in the file on.
    Stages(const platform::SharedObject& object, StageBoard& board, std::size_t begin,
           std::size_t number, const Segments& segments) noexcept
        : object_(object), board_(board), begin_(begin), number_(number), segments_(segments) {}

    /// One for so many processes; none: all are in use, and the file has no room for a segment. Throws std::bad_alloc.
    Stage take(std::uint32_t users) const;
    /// Its memory, mapped with the first call, or as long as `mapping` is there; nullptr if it cannot be.
    std::byte* map(const Stage& stage, std::shared_ptr<const platform::Mapping>& mapping) const;
    /// By each of the processes, which has `memory` mapped.
    void leave(const Stage& stage, std::byte* memory) const noexcept;
    /// By each of them, when not all have been able to map it; `taker`: by who has taken it.
    void give_up(const Stage& stage, bool taker) const noexcept;
    void unmap() noexcept;

private:
    std::size_t offset_of(std::int32_t number) const noexcept {
        return begin_ + static_cast<std::size_t>(number) * stage_bytes;
    }
    std::int32_t take_numbered(std::uint32_t users) const noexcept;
    void leave_numbered(std::int32_t number) const noexcept;
    std::byte* map_numbered(std::int32_t number) const;

    const platform::SharedObject& object_;
    StageBoard& board_;
    const std::size_t begin_, number_;
    const Segments& segments_;
    mutable std::mutex lock_;
    mutable platform::Mapping mapped_[most_stages];
};

}  // namespace heddle::node

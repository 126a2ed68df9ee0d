// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Stages: memory of the node in which several processes work on the same data.
///
/// The process that takes a stage for all of them tells the others. It is free again when each of
/// them has left it.
/// Thread safety  every function from any thread, but unmap() only while no thread uses a stage.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "node/segments.hpp"
#include "platform/memory.hpp"

namespace heddle::node {

inline constexpr std::size_t most_stages = 64;  ///< one bit each in StageBoard::used
/// Bytes of a stage. Pages that no process touches do not exist.
inline constexpr std::size_t stage_bytes = (6 << 20) + (64 << 10);

struct StageBoard {
    std::atomic<std::uint64_t> used;
    std::atomic<std::uint32_t> users[most_stages];
};

/// Memory of stage_bytes: a stage or, if all are in use, a segment. It has neither if there is
/// none.
struct Stage {
    std::int32_t number = -1;
    Segment segment;
    explicit operator bool() const noexcept { return number >= 0 || segment; }
};

class Stages {
public:
    /// There are `number` stages, from offset `begin` of the file on.
    Stages(const platform::SharedObject& object, StageBoard& board, std::size_t begin,
           std::size_t number, const Segments& segments) noexcept
        : object_(object), board_(board), begin_(begin), number_(number), segments_(segments) {}

    /// Returns one for so many processes. Returns none if all are in use, and the file has no room
    /// for a segment. Throws std::bad_alloc.
    Stage take(std::uint32_t users) const;
    /// Returns its memory, or nullptr if that cannot be mapped. A stage is mapped by the first
    /// call, a segment as long as `mapping` is there.
    std::byte* map(const Stage& stage, std::shared_ptr<const platform::Mapping>& mapping) const;
    /// Leaves the stage. Each of the processes, which has `memory` mapped, calls this.
    void leave(const Stage& stage, std::byte* memory) const noexcept;
    /// Gives the stage up. Each of them calls this when not all have been able to map it; `taker`:
    /// the caller has taken it.
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

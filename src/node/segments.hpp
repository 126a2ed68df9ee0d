// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Segments: pieces of the node's memory for whatever several processes want to share.
///
/// The file has addresses for far more of them than any machine has memory. The process that takes
/// a segment tells the others, who map it. Each of them unmaps it before the taker gives it back. A
/// file that may not be large has a part for segments, too.
/// Thread safety  every function from any thread.
/// Errors         take() returns an empty Segment, map() nullptr, and errno says why.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "platform/memory.hpp"

namespace heddle::node {

/// The part of the file that is taken for segments: their number in the low 16 bits, and above it
/// the page behind the last one. It is one word, so that a process that dies cannot leave it half
/// changed. If the last segment is given back, its pages can be taken again.
struct SegmentBoard {
    std::atomic<std::uint64_t> taken;
};

/// A piece of the file; it has no bytes if there is none.
struct Segment {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    explicit operator bool() const noexcept { return bytes != 0; }
};

class Segments {
public:
    /// Segments lie in the file from `begin` to `end`. `one_address_space`: all processes are in
    /// one, and share mappings.
    Segments(const platform::SharedObject& object, SegmentBoard& board, std::size_t begin,
             std::size_t end, bool one_address_space) noexcept
        : object_(object),
          board_(board),
          begin_(begin),
          end_(end),
          one_address_space_(one_address_space) {}

    /// Returns one of so many bytes, rounded up to pages of zeroes; none if the file has no room
    /// for it.
    Segment take(std::uint64_t bytes) const noexcept;
    /// Returns whether a segment of so many bytes leaves at least half to others: of the room, and
    /// of the number of segments.
    bool can_spare(std::uint64_t bytes) const noexcept;
    /// Gives back a segment that is not mapped any more, or not used.
    void give(const Segment& segment) const noexcept;
    /// Returns the mapping. Processes in one address space share it, so that a race detector sees
    /// all sides. Throws std::bad_alloc.
    std::shared_ptr<const platform::Mapping> map(const Segment& segment) const;

private:
    const platform::SharedObject& object_;
    SegmentBoard& board_;
    const std::size_t begin_, end_;
    const bool one_address_space_;
    mutable std::mutex lock_;
    /// By offset, as long as they are mapped; only of processes in one address space.
    mutable std::map<std::uint64_t, std::weak_ptr<const platform::Mapping>> mapped_;
};

}  // namespace heddle::node

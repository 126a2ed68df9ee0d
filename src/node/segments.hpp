// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Segments: pieces of the node's memory for whatever several processes want to share.
///
/// The file has addresses for far more of them than any machine has memory. The process that takes one tells the
/// others, who map it; each of them unmaps it before the taker gives it back. A file that may not be large has a
/// part for segments, too.
/// Thread safety  every function from any thread.
/// Errors         take() answers an empty Segment, map() nullptr, and errno says why.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "platform/memory.hpp"

namespace heddle::node {

/// Which part of the file is taken for segments: their number in the low 16 bits, and the page above the
/// last one. One word, so that a process that dies cannot leave it half changed. The last one gives its place back.
struct SegmentBoard {
    std::atomic<std::uint64_t> taken;
};

/// A piece of the file; no bytes: none.
struct Segment {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    explicit operator bool() const noexcept { return bytes != 0; }
};

class Segments {
public:
    /// They stand in the file from `begin` to `end`. `one_address_space`: all processes are in one, and share mappings.
    Segments(const platform::SharedObject& object, SegmentBoard& board, std::size_t begin,
             std::size_t end, bool one_address_space) noexcept
        : object_(object),
          board_(board),
          begin_(begin),
          end_(end),
          one_address_space_(one_address_space) {}

    /// One of so many bytes, rounded up to pages of zeroes; none if the file has no room for it.
    Segment take(std::uint64_t bytes) const noexcept;
    /// Whether one leaves at least half of the room, and of the number of segments that there can be, to others.
    bool can_spare(std::uint64_t bytes) const noexcept;
    /// It is not mapped any more, or not used.
    void give(const Segment& segment) const noexcept;
    /// Processes in one address space share the mapping, so that a race detector sees all sides. Throws std::bad_alloc.
    std::shared_ptr<const platform::Mapping> map(const Segment& segment) const;

private:
    const platform::SharedObject& object_;
    SegmentBoard& board_;
    const std::size_t begin_, end_;
    const bool one_address_space_;
    mutable std::mutex lock_;
    /// By where they begin, as long as they are mapped; only of processes in one address space.
    mutable std::map<std::uint64_t, std::weak_ptr<const platform::Mapping>> mapped_;
};

}  // namespace heddle::node

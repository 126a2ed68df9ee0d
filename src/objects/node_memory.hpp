// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Memory of MPI_Alloc_mem that other processes of the node can map. Each piece is a segment of the
/// node's file (node/segments.hpp), which has no name.
///
/// Life           a piece lives until the program frees it and no window has it any more. Then its
///                pages go back. Memory that the program never frees stays until the process ends,
///                as with malloc().
/// Thread safety  any thread.
/// Errors         take() returns nullptr if few segments are left, since windows need those, or if
///                there are no addresses. malloc() may have memory then.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "node/segments.hpp"
#include "node/sizes.hpp"
#include "platform/memory.hpp"

namespace heddle::objects {

class NodeMemory {
public:
    /// A smaller request is better served by malloc(), since a piece is made of pages.
    static constexpr std::size_t least_bytes = node::page_bytes;
    static constexpr std::size_t alignment = node::page_bytes;

    class Piece {
    public:
        /// Makes an empty piece if there is no such memory.
        Piece(const node::Segments& segments, std::size_t bytes) noexcept;
        ~Piece();
        Piece(const Piece&) = delete;
        Piece& operator=(const Piece&) = delete;

        explicit operator bool() const noexcept { return mapping_ != nullptr; }
        const node::Segment& segment() const noexcept { return segment_; }
        std::byte* begin() const noexcept { return static_cast<std::byte*>(mapping_->address()); }

    private:
        const node::Segments& segments_;
        const node::Segment segment_;
        std::shared_ptr<const platform::Mapping> mapping_;
    };
    using Holder = std::shared_ptr<const Piece>;

    explicit NodeMemory(const node::Segments& segments) noexcept : segments_(segments) {}

    void* take(std::size_t bytes) noexcept;
    /// Returns false if it is not the beginning of a piece.
    bool give(void* memory) noexcept;
    /// Returns the piece in which all of this memory lies, or nullptr if there is none.
    Holder piece_with(const void* memory, std::size_t bytes) const;

private:
    const node::Segments& segments_;
    mutable std::mutex lock_;
    std::map<const std::byte*, Holder> pieces_;  ///< by their first bytes
};

}  // namespace heddle::objects

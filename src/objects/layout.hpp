// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The layout of a datatype's data, as a small program, and moving them to and from packed form.
///
/// The packed form of a datatype is its data in the order of its type map (MPI 5.0, 5.1). It has no
/// gaps. The program tells for each byte of memory its byte of the packed form. It consists of
/// blocks, lists of different things, and loops over something. A loop has a stride or a list of
/// displacements. When the program was made, layout_builder.hpp merged nested loops that are one,
/// blocks that touch, and lists with a stride.
///
/// Invariants     (1) Whatever is placed begins with its first packed byte. Its packed form begins
///                at displacement 0 within a node, though data may lie in front of that.
///                (2) A loop or a list has at least two entries, and nothing in it is empty.
/// Costs          Finding a byte: a division per loop, a binary search per list. A loop over short
///                blocks is a loop over one load and one store; long blocks are memcpy.
/// Depth          A node knows how many are nested in it. If one is nested too deeply for
///                recursion, it is entered anew for each of its shallow parts. Nothing is
///                allocated.
/// Thread safety  Nodes do not change once they are made.

#include <cstddef>
#include <cstdint>
#include <memory>

namespace heddle::objects {

struct Datatype;
struct Node;

/// The data at a place: a block of bytes, or a node.
struct Body {
    std::uint64_t bytes = 0;     ///< of the packed form
    const Node* node = nullptr;  ///< nullptr: a block
};

/// A body with the displacement of its first packed byte.
struct Placed {
    std::int64_t at = 0;
    Body body;
};

struct Node {
    enum class Kind : std::uint8_t {
        strided,  ///< `count` times `child`, `stride` apart
        indexed,  ///< `count` times `child`, at `displacements`
        list,     ///< `count` different bodies, at `displacements`
    };
    Kind kind = Kind::strided;
    std::uint32_t depth = 1;  ///< nodes nested in each other, this one included
    std::uint64_t bytes = 0;  ///< of the packed form
    std::uint64_t count = 0;
    Body child;
    std::int64_t stride = 0;
    std::unique_ptr<std::int64_t[]> displacements;
    /// For a list: where each entry begins in the packed form, and where the last one ends.
    std::unique_ptr<std::uint64_t[]> begins;
    /// For a list: the entries that are no blocks; nullptr if all are blocks.
    std::unique_ptr<const Node*[]> nodes;

    /// Returns the i-th entry.
    Placed entry(std::uint64_t i) const noexcept {
        switch (kind) {
            case Kind::strided: return {static_cast<std::int64_t>(i) * stride, child};
            case Kind::indexed: return {displacements[i], child};
            default:
                return {displacements[i],
                        {begins[i + 1] - begins[i], nodes == nullptr ? nullptr : nodes[i]}};
        }
    }
    /// Returns the number of the entry that byte `from` of the packed form is in.
    std::uint64_t entry_at(std::uint64_t from) const noexcept;
    /// Returns where the i-th entry begins in the packed form.
    std::uint64_t begin_of(std::uint64_t i) const noexcept {
        return kind == Kind::list ? begins[i] : i * child.bytes;
    }
};

/// Copies bytes [from, from + bytes) of the packed form of the elements at `elements` to `packed`
/// (and back). Access is random in the packed form: fragments of a message are packed one by one,
/// straight into the transport's buffer. `elements` is the user's address, which may be MPI_BOTTOM.
/// Data lie at it plus displacement, which may be negative.
void pack(const Datatype& type, const std::byte* elements, std::uint64_t from, std::byte* packed,
          std::uint64_t bytes) noexcept;
void unpack(const Datatype& type, std::byte* elements, std::uint64_t from, const std::byte* packed,
            std::uint64_t bytes) noexcept;

}  // namespace heddle::objects

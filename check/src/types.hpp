// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The contents of a datatype: its signature, and the bytes of memory that it names.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi.h"

namespace heddle::check {

/// A sequence of basic elements, by a hash of their kinds. Elements of the same kind (integer,
/// floating point, complex, logical) and size count as equal. Those of MPI_BYTE and MPI_PACKED
/// equal all others.
struct Signature {
    /// The hash as a map x -> factor x + sum, so that parts can be joined. It is used only if kinds
    /// differ.
    std::uint64_t factor = 1, sum = 0;
    std::int64_t elements = 0, bytes = 0;  ///< bytes is -1 if the type is unknown
    std::uint32_t code = 0;                ///< the code of all elements; `mixed` if they differ
    std::uint32_t name = 0;                ///< the handle of a basic type, for messages

    static constexpr std::uint32_t empty = 0, any = 1, mixed = 2;

    void append(const Signature& next) noexcept;
    Signature times(std::uint64_t count) const noexcept;
    bool is_any() const noexcept { return code == any; }
};
/// Returns true if data of one signature may be received with the other of the same length.
bool agree(const Signature& one, const Signature& other) noexcept;
/// Returns true if they agree and have the same length.
bool match(const Signature& one, const Signature& other) noexcept;
/// Returns a text such as "4 MPI_DOUBLE", "28 bytes of mixed types".
std::string words(const Signature& signature);

struct Block {
    std::int64_t offset, length;
};

struct Type {
    Signature signature;          ///< of one element
    std::vector<Signature> runs;  ///< the same by runs of one kind; empty if they are too many
    std::vector<Block>
        blocks;  ///< of one element, in the order of the type map; empty if they are unknown
    std::int64_t extent = 0, low = 0, high = 0;  ///< low and high: the true bounds
    std::int64_t stride =
        0;               ///< distance of equally long blocks; 0 if it varies, or there is one block
    bool dense = false;  ///< elements in a row are one block

    /// Returns the signature of the first `elements` basic elements of sufficiently many of this
    /// type. Returns false if it is unknown.
    bool prefix(std::int64_t elements, Signature& found) const noexcept;
};

/// Returns nullptr if there is no such type. The reference holds until the thread asks for another
/// one.
const std::shared_ptr<const Type>& type_of(MPI_Datatype datatype);
Signature signature_of(MPI_Datatype datatype, MPI_Count count);

}  // namespace heddle::check

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What a datatype consists of: its signature, and which bytes of memory it names.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi.h"

namespace heddle::check {

/// A sequence of basic elements, by a hash of their kinds. Elements of the same kind (integer, floating point, complex,
/// logical) and size count as equal; those of MPI_BYTE and MPI_PACKED equal all others.
struct Signature {
    /// The hash as a map x -> factor x + sum, so that parts can be joined; only where kinds differ.
    std::uint64_t factor = 1, sum = 0;
    std::int64_t elements = 0, bytes = 0;  ///< bytes: -1 where the type is not known
    std::uint32_t code = 0;                ///< of all elements; `mixed` where they differ
    std::uint32_t name = 0;                ///< the handle of a basic type, to be told

    static constexpr std::uint32_t empty = 0, any = 1, mixed = 2;

    void append(const Signature& next) noexcept;
    Signature times(std::uint64_t count) const noexcept;
    bool is_any() const noexcept { return code == any; }
};
/// Whether what one of them sends the other one may receive, both of the same length.
bool agree(const Signature& one, const Signature& other) noexcept;
/// The same, of the same length.
bool match(const Signature& one, const Signature& other) noexcept;
/// "4 MPI_DOUBLE", "28 bytes of mixed types".
std::string words(const Signature& signature);

struct Block {
    std::int64_t offset, length;
};

struct Type {
    Signature signature;          ///< of one element
    std::vector<Signature> runs;  ///< the same, by runs of one kind; empty where they are too many
    std::vector<Block>
        blocks;  ///< of one element, in the order of the type map; empty where not known
    std::int64_t extent = 0, low = 0, high = 0;  ///< low and high: the true bounds
    std::int64_t stride =
        0;  ///< of blocks of one length at equal distances; 0: they are not, or are one
    bool dense = false;  ///< elements in a row are one block

    /// Of the first `elements` basic elements of as many of this type as are needed; no value where not known.
    bool prefix(std::int64_t elements, Signature& found) const noexcept;
};

/// nullptr if there is none such. The reference holds until the thread asks for another one.
const std::shared_ptr<const Type>& type_of(MPI_Datatype datatype);
Signature signature_of(MPI_Datatype datatype, MPI_Count count);

}  // namespace heddle::check

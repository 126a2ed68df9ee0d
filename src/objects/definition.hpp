// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The definition of a datatype, apart from its handle and its name: how it was made, its bounds,
/// its program.
///
/// A definition never changes. Datatypes that are equal by construction share one: the one that the
/// user made, and those that MPI_Type_get_contents returns. A definition holds the definitions of
/// the types it was made from, so that those types can be freed.
///
/// Counting       references are atomic. Predefined definitions are never destroyed and are not
///                counted.
/// Depth          nothing here recurses into the types that a type was made from.

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mpi.h"
#include "objects/layout.hpp"

namespace heddle::objects {

struct BasicType;
struct Definition;
void hold(const Definition* definition) noexcept;
void let_go(const Definition* definition) noexcept;

/// A counted reference to a definition.
class DefinitionPointer {
public:
    DefinitionPointer() = default;
    /// Takes over the caller's reference to `owned`.
    explicit DefinitionPointer(const Definition* owned) noexcept : definition_(owned) {}
    DefinitionPointer(const DefinitionPointer& other) noexcept : definition_(other.definition_) {
        hold(definition_);
    }
    DefinitionPointer(DefinitionPointer&& other) noexcept
        : definition_(std::exchange(other.definition_, nullptr)) {}
    DefinitionPointer& operator=(DefinitionPointer other) noexcept {
        std::swap(definition_, other.definition_);
        return *this;
    }
    ~DefinitionPointer() { let_go(definition_); }

    const Definition* get() const noexcept { return definition_; }
    const Definition& operator*() const noexcept { return *definition_; }
    const Definition* operator->() const noexcept { return definition_; }
    explicit operator bool() const noexcept { return definition_ != nullptr; }
    [[nodiscard]] const Definition* detach() noexcept {
        return std::exchange(definition_, nullptr);
    }

private:
    const Definition* definition_ = nullptr;
};

/// Bounds and sizes in bytes (MPI 5.0, 5.1.7 and 5.1.8).
struct Geometry {
    std::int64_t size = 0;  ///< of the data in one element
    std::int64_t lower_bound = 0;
    std::int64_t extent = 0;            ///< from one element to the next
    std::int64_t true_lower_bound = 0;  ///< where the data begin
    std::int64_t true_extent = 0;       ///< from the first of the data to the last.
    /// The data are in order and without gaps, and there is nothing else: the packed form is the
    /// count * size bytes from the buffer's start.
    bool contiguous = true;

    std::int64_t true_upper_bound() const noexcept { return true_lower_bound + true_extent; }
    std::int64_t upper_bound() const noexcept { return lower_bound + extent; }
};

/// The recipe of a type: the arguments of the call that made it.
struct Recipe {
    int combiner = MPI_COMBINER_NAMED;
    bool large = false;  ///< made by the large-count form
    /// Arguments that are int in both forms: dimensions, order, distributions.
    std::vector<int> integers;
    /// Counts, lengths, displacements, strides, bounds, in the order of array_of_large_counts (MPI
    /// 5.0, 5.1.13).
    std::vector<std::int64_t> numbers;
    std::vector<DefinitionPointer> types;
    /// The type made from simpler ones, for a subarray and a distributed array.
    DefinitionPointer simpler;
};

/// A piece of a type: `length` elements of a type, side by side. A piece of length 0 is empty.
struct Part {
    std::int64_t displacement = 0;
    std::int64_t length = 0;
    const Definition* type = nullptr;
};

struct Definition : Geometry {
    Recipe recipe;
    const BasicType* basic = nullptr;  ///< of a predefined type that is no pair
    bool predefined = false;           ///< never destroyed
    /// The handle, if it has a name in the standard.
    MPI_Datatype named = MPI_DATATYPE_NULL;

    bool bounded = false;        ///< its bounds were set (MPI_Type_create_resized), here or inside
    std::int64_t alignment = 1;  ///< of its data; the extent is a multiple of it unless bounded
    std::int64_t elements = 0;   ///< basic elements in one element of the type
    std::int64_t external_size = 0;  ///< of one element in external32

    Placed data;              ///< of one element
    Placed sequence;          ///< the unit that consecutive elements repeat,
    std::int64_t period = 0;  ///< and the bytes from one unit to the next
    /// The nodes of `data` that no inner type owns.
    std::vector<std::unique_ptr<const Node>> nodes;

    /// Returns the number of pieces, in the order of the type map. Basic types have none.
    std::int64_t parts() const noexcept;
    Part part(std::int64_t i) const noexcept;
    /// Returns the index in recipe.numbers of the displacement of the i-th block of a list of
    /// blocks.
    std::size_t displacement_index(std::int64_t i) const noexcept;

    /// Computes what follows from bounds and data, as the last step of making a definition.
    void finish() noexcept;

    mutable std::atomic<std::uint32_t> references{1};
    mutable const Definition* next_unused = nullptr;
};

/// Computes what follows from the recipe. Returns null if something in it would need more than 63
/// bits.
DefinitionPointer define(Recipe recipe);
/// Does the same for a basic type.
DefinitionPointer define_basic(const BasicType& basic, Recipe recipe);
/// Does what define() does for a definition that has its recipe and its place already. Returns
/// false if it does not fit.
bool define_in_place(Definition& definition);

}  // namespace heddle::objects

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What a datatype is, apart from its handle and its name: how it was made, its bounds, its program.
///
/// A definition never changes. The datatypes that are equal by construction (the one that the user
/// made, those that MPI_Type_get_contents hands out) share one, and a definition holds those of the
/// types it was made from, so that a type can be freed while others are built on it.
///
/// Counting       references are atomic; predefined definitions are there for ever and are not counted.
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

/// A counted reference.
class DefinitionPointer {
public:
    DefinitionPointer() = default;
    /// Takes over the reference that `owned` comes with.
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
    std::int64_t true_extent = 0;       ///< from the first of the data to the last
    /// Data in order without gaps, and nothing else: count * size bytes from the buffer's start are
    /// the packed form.
    bool contiguous = true;

    std::int64_t true_upper_bound() const noexcept { return true_lower_bound + true_extent; }
    std::int64_t upper_bound() const noexcept { return lower_bound + extent; }
};

/// How a type was made: the call's arguments.
struct Recipe {
    int combiner = MPI_COMBINER_NAMED;
    bool large = false;         ///< by the large-count form
    std::vector<int> integers;  ///< what both forms take as int: dimensions, order, distributions
    /// Counts, lengths, displacements, strides, bounds, in the order of array_of_large_counts (MPI
    /// 5.0, 5.1.13).
    std::vector<std::int64_t> numbers;
    std::vector<DefinitionPointer> types;
    /// Of a subarray and a distributed array: the same made from simpler types.
    DefinitionPointer simpler;
};

/// A piece of a type: `length` elements of a type, side by side. A length of 0 is nothing at all.
struct Part {
    std::int64_t displacement = 0;
    std::int64_t length = 0;
    const Definition* type = nullptr;
};

struct Definition : Geometry {
    Recipe recipe;
    const BasicType* basic = nullptr;  ///< of a predefined type that is no pair
    bool predefined = false;           ///< lives for ever
    MPI_Datatype named =
        MPI_DATATYPE_NULL;  ///< the handle, if it is one with a name in the standard

    bool bounded = false;        ///< its bounds were set (MPI_Type_create_resized), here or inside
    std::int64_t alignment = 1;  ///< of its data, which the extent is a multiple of unless bounded
    std::int64_t elements = 0;   ///< basic ones in one element of the type
    std::int64_t external_size = 0;  ///< of one element in external32

    Placed data;              ///< of one element
    Placed sequence;          ///< of what elements in a row repeat,
    std::int64_t period = 0;  ///< and the bytes from one of these to the next
    std::vector<std::unique_ptr<const Node>> nodes;  ///< of `data` that no inner type owns

    /// The pieces in the order of the type map. None for basic types.
    std::int64_t parts() const noexcept;
    Part part(std::int64_t i) const noexcept;
    /// Where recipe.numbers has the displacement of the i-th block of a list of blocks.
    std::size_t displacement_index(std::int64_t i) const noexcept;

    /// The last step of making one: what follows from bounds and data.
    void finish() noexcept;

    mutable std::atomic<std::uint32_t> references{1};
    mutable const Definition* next_unused = nullptr;
};

/// Computes what follows from the recipe. Null: something in it would need more than 63 bits.
DefinitionPointer define(Recipe recipe);
/// The same for a type that is a basic one.
DefinitionPointer define_basic(const BasicType& basic, Recipe recipe);
/// define() for one that has its recipe and its place already. False: does not fit.
bool define_in_place(Definition& definition);

}  // namespace heddle::objects

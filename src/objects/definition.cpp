// SPDX-License-Identifier: BSD-3-Clause
#include "objects/definition.hpp"

#include <algorithm>
#include <limits>

#include "objects/basic_types.hpp"
#include "objects/layout_builder.hpp"
#include "sync/orders.hpp"

namespace heddle::objects {
namespace {

__extension__ typedef __int128 Wide;

bool fits(Wide value) noexcept {
    return value >= std::numeric_limits<std::int64_t>::min() &&
        value <= std::numeric_limits<std::int64_t>::max();
}

/// Multiplies. Displacements of parts that exist were found to fit when the type was made.
std::int64_t times(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? 0 : product;
}

/// Returns whether a combiner's displacements are in extents of the old type.
bool in_extents(int combiner) noexcept {
    return combiner == MPI_COMBINER_VECTOR || combiner == MPI_COMBINER_INDEXED ||
        combiner == MPI_COMBINER_INDEXED_BLOCK;
}

/// The range from the lowest to the highest of the numbers that have been added.
struct Range {
    bool any = false;
    Wide low = 0, high = 0;

    void add(Wide from, Wide to) noexcept {
        low = any ? std::min(low, from) : from;
        high = any ? std::max(high, to) : to;
        any = true;
    }
    Wide length() const noexcept { return high - low; }
};

/// Returns whether a type is padded at the end to its alignment. A structure is, as the compiler
/// lays it out. Other types have the bounds of their parts. (The standard pads all, by as much as a
/// compiler would.)
bool is_padded(int combiner) noexcept {
    return combiner == MPI_COMBINER_STRUCT || combiner == MPI_COMBINER_VALUE_INDEX;
}

/// The bounds of a type map to which parts are added one by one. Its integers are wide enough for
/// all sums.
class Bounds {
public:
    void add(Wide displacement, Wide length, const Definition& type) noexcept {
        if (length == 0) return;
        const Wide last = displacement + (length - 1) * type.extent;
        const Wide low = std::min(displacement, last), high = std::max(displacement, last);
        if (type.bounded) marked_.add(low + type.lower_bound, high + type.upper_bound());
        if (type.size == 0) return;
        bounds_.add(low + type.lower_bound, high + type.upper_bound());
        data_.add(low + type.true_lower_bound, high + type.true_upper_bound());
        alignment_ = std::max(alignment_, type.alignment);
    }
    void add_size(Wide count, const Definition& type) noexcept {
        size_ += count * type.size;
        external_size_ += count * type.external_size;
        elements_ += count * type.elements;
        too_large_ = too_large_ || !fits(size_);
    }

    /// Returns false if something does not fit.
    bool write(Definition& made) const noexcept {
        const Wide unit = is_padded(made.recipe.combiner) ? alignment_ : 1;
        const Wide padded = (bounds_.length() + unit - 1) / unit * unit;
        const Wide lower = marked_.any ? marked_.low : bounds_.low;
        const Wide extent = marked_.any ? marked_.length() : padded;
        if (too_large_ || !fits(lower) || !fits(extent) || !fits(lower + extent) ||
            !fits(data_.low) || !fits(data_.high) || !fits(data_.length()))
            return false;
        made.size = static_cast<std::int64_t>(size_);
        made.external_size = static_cast<std::int64_t>(external_size_);
        made.elements = static_cast<std::int64_t>(elements_);
        made.lower_bound = static_cast<std::int64_t>(lower);
        made.extent = static_cast<std::int64_t>(extent);
        made.true_lower_bound = static_cast<std::int64_t>(data_.low);
        made.true_extent = static_cast<std::int64_t>(data_.length());
        made.bounded = marked_.any;
        made.alignment = alignment_;
        return true;
    }

private:
    bool too_large_ = false;
    Range bounds_, marked_, data_;
    Wide size_ = 0, external_size_ = 0, elements_ = 0;
    std::int64_t alignment_ = 1;
};

/// A loop: count times length elements, stride bytes apart (MPI_Type_contiguous, vector, hvector).
struct Loop {
    std::int64_t count, length;
    Wide stride;
};
Loop loop_of(const Recipe& recipe) noexcept {
    const auto& n = recipe.numbers;
    if (recipe.combiner == MPI_COMBINER_CONTIGUOUS) return {1, n[0], 0};
    const Wide unit = recipe.combiner == MPI_COMBINER_VECTOR ? recipe.types[0]->extent : 1;
    return {n[0], n[1], n[0] <= 1 ? 0 : n[2] * unit};
}

bool define_loop(Definition& made) {
    const Definition& old = *made.recipe.types[0];
    const Loop loop = loop_of(made.recipe);
    if (loop.count == 0 || loop.length == 0) return true;
    if (!fits(loop.stride)) return false;
    Bounds bounds;
    bounds.add(0, loop.length, old);
    bounds.add((loop.count - 1) * loop.stride, loop.length, old);
    const Wide all = static_cast<Wide>(loop.count) * loop.length;
    if (!fits(all)) return false;
    bounds.add_size(all, old);
    if (!bounds.write(made)) return false;
    LayoutBuilder builder(made.nodes);
    const Placed block = builder.repeat(old.data, loop.length, old.extent);
    made.data = builder.repeat(block, loop.count, static_cast<std::int64_t>(loop.stride));
    return true;
}

/// A list of blocks with displacements.
bool define_list(Definition& made) {
    const Recipe& recipe = made.recipe;
    const std::int64_t count = made.parts();
    Bounds bounds;
    for (std::int64_t i = 0; i < count; ++i) {
        Part part = made.part(i);
        if (part.length == 0) continue;
        const Wide unit = in_extents(recipe.combiner) ? part.type->extent : 1;
        const Wide exact = recipe.numbers[made.displacement_index(i)] * unit;
        bounds.add(exact, part.length, *part.type);
        bounds.add_size(part.length, *part.type);
    }
    if (!bounds.write(made)) return false;
    LayoutBuilder builder(made.nodes);
    for (std::int64_t i = 0; i < count; ++i) {
        const Part part = made.part(i);
        if (part.length == 0 || part.type->size == 0) continue;
        builder.add(part.displacement,
                    builder.repeat(part.type->data, part.length, part.type->extent));
    }
    made.data = builder.finish();
    return true;
}

/// Copies the geometry and everything else that is derived, except the recipe.
void copy(Definition& made, const Definition& old) noexcept {
    static_cast<Geometry&>(made) = old;
    made.bounded = old.bounded;
    made.alignment = old.alignment;
    made.elements = old.elements;
    made.external_size = old.external_size;
    made.data = old.data;
}

bool define_resized(Definition& made) noexcept {
    copy(made, *made.recipe.types[0]);
    made.lower_bound = made.recipe.numbers[0];
    made.extent = made.recipe.numbers[1];
    made.bounded = true;
    return fits(static_cast<Wide>(made.lower_bound) + made.extent);
}

void fill_basic(Definition& made) noexcept {
    const BasicType& basic = *made.basic;
    made.size = made.extent = made.true_extent = basic.size;
    made.alignment = basic.alignment;
    made.elements = 1;
    made.external_size = basic.external_size;
    made.data = {0, {static_cast<std::uint64_t>(basic.size), nullptr}};
}

bool define_by_combiner(Definition& made) {
    switch (made.recipe.combiner) {
        case MPI_COMBINER_DUP: copy(made, *made.recipe.types[0]); return true;
        case MPI_COMBINER_RESIZED: return define_resized(made);
        case MPI_COMBINER_SUBARRAY:
        case MPI_COMBINER_DARRAY: copy(made, *made.recipe.simpler); return true;
        case MPI_COMBINER_CONTIGUOUS:
        case MPI_COMBINER_VECTOR:
        case MPI_COMBINER_HVECTOR: return define_loop(made);
        default: return define_list(made);
    }
}

}  // namespace

void Definition::finish() noexcept {
    const Node* node = data.body.node;
    contiguous = size == extent && size == true_extent && lower_bound == 0 &&
        true_lower_bound == 0 && data.at == 0 && node == nullptr;
    sequence = data;
    period = extent;
    std::int64_t loop = 0;
    if (node == nullptr || node->kind != Node::Kind::strided) return;
    if (__builtin_mul_overflow(static_cast<std::int64_t>(node->count), node->stride, &loop)) return;
    if (loop != extent) return;
    sequence.body = node->child;
    period = node->stride;
}

bool define_in_place(Definition& definition) {
    if (definition.basic != nullptr)
        fill_basic(definition);
    else if (!define_by_combiner(definition))
        return false;
    definition.finish();
    return true;
}

DefinitionPointer define_basic(const BasicType& basic, Recipe recipe) {
    auto made = std::make_unique<Definition>();
    made->recipe = std::move(recipe);
    made->basic = &basic;
    define_in_place(*made);
    return DefinitionPointer(made.release());
}

DefinitionPointer define(Recipe recipe) {
    auto made = std::make_unique<Definition>();
    made->recipe = std::move(recipe);
    if (!define_in_place(*made)) return {};
    return DefinitionPointer(made.release());
}

std::int64_t Definition::parts() const noexcept {
    switch (recipe.combiner) {
        case MPI_COMBINER_NAMED:
        case MPI_COMBINER_F90_REAL:
        case MPI_COMBINER_F90_COMPLEX:
        case MPI_COMBINER_F90_INTEGER: return 0;
        case MPI_COMBINER_DUP:
        case MPI_COMBINER_RESIZED:
        case MPI_COMBINER_SUBARRAY:
        case MPI_COMBINER_DARRAY:
        case MPI_COMBINER_CONTIGUOUS: return 1;
        case MPI_COMBINER_VALUE_INDEX: return 2;
        default: return recipe.numbers[0];
    }
}

std::size_t Definition::displacement_index(std::int64_t i) const noexcept {
    const auto at = static_cast<std::size_t>(i);
    switch (recipe.combiner) {
        case MPI_COMBINER_INDEXED_BLOCK:
        case MPI_COMBINER_HINDEXED_BLOCK: return 2 + at;
        case MPI_COMBINER_VALUE_INDEX: return at;
        default: return 1 + static_cast<std::size_t>(recipe.numbers[0]) + at;
    }
}

Part Definition::part(std::int64_t i) const noexcept {
    const auto& n = recipe.numbers;
    const Definition* old = recipe.types.empty() ? nullptr : recipe.types[0].get();
    const std::int64_t unit = in_extents(recipe.combiner) ? old->extent : 1;
    switch (recipe.combiner) {
        case MPI_COMBINER_DUP:
        case MPI_COMBINER_RESIZED: return {0, 1, old};
        case MPI_COMBINER_SUBARRAY:
        case MPI_COMBINER_DARRAY: return {0, 1, recipe.simpler.get()};
        case MPI_COMBINER_CONTIGUOUS: return {0, n[0], old};
        case MPI_COMBINER_VECTOR:
        case MPI_COMBINER_HVECTOR: return {times(i, times(n[2], unit)), n[1], old};
        case MPI_COMBINER_INDEXED_BLOCK:
        case MPI_COMBINER_HINDEXED_BLOCK: return {times(n[displacement_index(i)], unit), n[1], old};
        case MPI_COMBINER_STRUCT:
            old = recipe.types[static_cast<std::size_t>(i)].get();
            [[fallthrough]];
        case MPI_COMBINER_INDEXED:
        case MPI_COMBINER_HINDEXED:
            return {times(n[displacement_index(i)], unit), n[1 + static_cast<std::size_t>(i)], old};
        case MPI_COMBINER_VALUE_INDEX:
            return {n[static_cast<std::size_t>(i)], 1,
                    recipe.types[static_cast<std::size_t>(i)].get()};
        default: return {};
    }
}

void hold(const Definition* definition) noexcept {
    if (definition == nullptr || definition->predefined) return;
    definition->references.fetch_add(1, relaxed);  // the caller has a reference: nothing to order
}

void let_go(const Definition* definition) noexcept {
    const Definition* unused = nullptr;
    const auto drop = [&unused](const Definition* one) {
        if (one == nullptr || one->predefined) return;
        // Release for this holder's accesses, acquire for those of the others.
        if (one->references.fetch_sub(1, acq_rel) != 1) return;
        one->next_unused = unused;
        unused = one;
    };
    drop(definition);
    while (unused != nullptr) {
        auto* one = const_cast<Definition*>(unused);
        unused = one->next_unused;
        for (DefinitionPointer& type : one->recipe.types) drop(type.detach());
        drop(one->recipe.simpler.detach());
        delete one;
    }
}

}  // namespace heddle::objects

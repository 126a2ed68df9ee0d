// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Datatypes by the plain rules of MPI 5.0, 5.1, for tests. A type map is a list of basic types
/// with displacements, and markers of bounds. Also makes random types with their type maps.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "objects/basic_types.hpp"
#include "objects/datatype.hpp"

namespace heddle::testing {

using objects::BasicType;
using objects::Datatype;
using objects::DefinitionPointer;
using objects::Geometry;
using objects::Part;
using objects::PredefinedType;
using objects::Recipe;

struct Item {
    const BasicType* type;
    std::int64_t at;
};

/// A type map.
struct TypeMap {
    std::vector<Item> items;
    std::vector<std::int64_t> lower_marks,
        upper_marks;  ///< of MPI_Type_create_resized: only these count
    std::vector<std::int64_t> lower_bounds, upper_bounds;  ///< of the types inside
    bool padded = false;  ///< the end is padded to the alignment, for a structure

    std::int64_t size() const {
        std::int64_t sum = 0;
        for (const Item& item : items) sum += item.type->size;
        return sum;
    }
    std::int64_t true_lower() const {
        std::int64_t least = items.empty() ? 0 : items[0].at;
        for (const Item& item : items) least = std::min(least, item.at);
        return least;
    }
    std::int64_t true_upper() const {
        std::int64_t most = items.empty() ? 0 : items[0].at + items[0].type->size;
        for (const Item& item : items) most = std::max(most, item.at + item.type->size);
        return most;
    }
    std::int64_t lower() const {
        if (!lower_marks.empty()) return *std::min_element(lower_marks.begin(), lower_marks.end());
        return lower_bounds.empty() ? true_lower()
                                    : *std::min_element(lower_bounds.begin(), lower_bounds.end());
    }
    std::int64_t extent() const {
        if (!upper_marks.empty())
            return *std::max_element(upper_marks.begin(), upper_marks.end()) - lower();
        const std::int64_t upper = upper_bounds.empty()
            ? true_upper()
            : *std::max_element(upper_bounds.begin(), upper_bounds.end());
        std::int64_t alignment = 1, extent = upper - lower();
        for (const Item& item : items) alignment = std::max(alignment, item.type->alignment);
        while (padded && extent % alignment != 0) ++extent;
        return extent;
    }
    void add(const TypeMap& other, std::int64_t at) {
        for (const Item& item : other.items) items.push_back({item.type, item.at + at});
        for (std::int64_t mark : other.lower_marks) lower_marks.push_back(mark + at);
        for (std::int64_t mark : other.upper_marks) upper_marks.push_back(mark + at);
        if (other.items.empty()) return;
        lower_bounds.push_back(other.lower() + at);
        upper_bounds.push_back(other.lower() + other.extent() + at);
    }
    void add_block(const TypeMap& other, std::int64_t length, std::int64_t at) {
        const std::int64_t extent = other.extent();
        for (std::int64_t i = 0; i < length; ++i) add(other, at + i * extent);
    }
};

/// A type and its map by the rule.
struct Sample {
    DefinitionPointer definition;
    TypeMap map;
};

inline Sample basic_sample(const PredefinedType& type) {
    Sample sample{DefinitionPointer(type.definition), {}};
    if (type.definition->basic != nullptr) {
        sample.map.items.push_back({type.definition->basic, 0});
        return sample;
    }
    for (std::int64_t i = 0; i < 2; ++i) {
        const Part part = type.definition->part(i);
        sample.map.items.push_back({part.type->basic, part.displacement});
    }
    sample.map.padded = true;
    return sample;
}

inline Recipe recipe_of(int combiner, std::vector<std::int64_t> numbers,
                        std::vector<DefinitionPointer> types) {
    Recipe recipe;
    recipe.combiner = combiner;
    recipe.numbers = std::move(numbers);
    recipe.types = std::move(types);
    return recipe;
}

class Maker {
public:
    explicit Maker(unsigned seed) : random_(seed) {
        for (const PredefinedType& type : objects::predefined_types())
            samples_.push_back(basic_sample(type));
    }
    /// Makes a random type from random earlier ones.
    const Sample& make() {
        for (;;) {
            Sample sample = attempt();
            if (sample.map.items.size() > 3000) continue;
            samples_.push_back(std::move(sample));
            return samples_.back();
        }
    }
    std::int64_t number(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
    }

private:
    const Sample& any() {
        // Later types are more interesting.
        const auto last = static_cast<std::int64_t>(samples_.size()) - 1;
        return samples_[static_cast<std::size_t>(
            number(number(0, 2) == 0 ? 0 : last - last / 4, last))];
    }
    /// Returns a displacement. Some blocks touch and some overlap in regular steps.
    std::int64_t displacement(std::int64_t unit) {
        switch (number(0, 3)) {
            case 0: return number(-4, 4) * unit;
            case 1: return number(0, 64);
            default: return number(-200, 200);
        }
    }

    Sample attempt() {
        constexpr int combiners[] = {MPI_COMBINER_DUP,           MPI_COMBINER_CONTIGUOUS,
                                     MPI_COMBINER_VECTOR,        MPI_COMBINER_HVECTOR,
                                     MPI_COMBINER_INDEXED,       MPI_COMBINER_HINDEXED,
                                     MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_HINDEXED_BLOCK,
                                     MPI_COMBINER_STRUCT,        MPI_COMBINER_RESIZED};
        const int combiner = combiners[number(0, 9)];
        const Sample& old = any();
        const std::int64_t extent = old.map.extent();
        Sample made;
        std::vector<std::int64_t> numbers;
        std::vector<DefinitionPointer> types{old.definition};
        const std::int64_t count = number(0, number(0, 3) == 0 ? 12 : 4), length = number(0, 4);
        switch (combiner) {
            case MPI_COMBINER_DUP: made.map = old.map; break;
            case MPI_COMBINER_CONTIGUOUS:
                numbers = {count};
                made.map.add_block(old.map, count, 0);
                break;
            case MPI_COMBINER_RESIZED:
                numbers = {number(-50, 50), number(-20, 300)};
                made.map.items = old.map.items;
                made.map.lower_marks = {numbers[0]};
                made.map.upper_marks = {numbers[0] + numbers[1]};
                break;
            case MPI_COMBINER_VECTOR:
            case MPI_COMBINER_HVECTOR: {
                const bool bytes = combiner == MPI_COMBINER_HVECTOR;
                const std::int64_t stride = bytes ? displacement(extent) : number(-5, 9);
                numbers = {count, length, stride};
                for (std::int64_t i = 0; i < count; ++i)
                    made.map.add_block(old.map, length, i * stride * (bytes ? 1 : extent));
                break;
            }
            default: attempt_list(combiner, count, length, old, numbers, types, made.map);
        }
        made.definition = objects::define(recipe_of(combiner, numbers, std::move(types)));
        return made;
    }

    void attempt_list(int combiner, std::int64_t count, std::int64_t length, const Sample& old,
                      std::vector<std::int64_t>& numbers, std::vector<DefinitionPointer>& types,
                      TypeMap& map) {
        const bool same =
            combiner == MPI_COMBINER_INDEXED_BLOCK || combiner == MPI_COMBINER_HINDEXED_BLOCK;
        const bool bytes =
            combiner != MPI_COMBINER_INDEXED && combiner != MPI_COMBINER_INDEXED_BLOCK;
        const std::int64_t extent = old.map.extent();
        std::vector<std::int64_t> lengths, displacements;
        std::vector<const Sample*> olds;
        if (combiner == MPI_COMBINER_STRUCT) types.clear();
        map.padded = combiner == MPI_COMBINER_STRUCT;
        std::int64_t regular = 0;
        const bool is_regular = number(0, 3) == 0;
        const std::int64_t step = displacement(extent);
        for (std::int64_t i = 0; i < count; ++i, regular += step) {
            lengths.push_back(same ? length : number(0, 3));
            displacements.push_back(bytes ? (is_regular ? regular : displacement(extent))
                                          : number(-9, 20));
            olds.push_back(combiner == MPI_COMBINER_STRUCT ? &any() : &old);
            if (combiner == MPI_COMBINER_STRUCT) types.push_back(olds.back()->definition);
        }
        numbers = {count};
        if (same) numbers.push_back(length);
        if (!same) numbers.insert(numbers.end(), lengths.begin(), lengths.end());
        numbers.insert(numbers.end(), displacements.begin(), displacements.end());
        for (std::size_t i = 0; i < olds.size(); ++i)
            map.add_block(olds[i]->map, lengths[i], displacements[i] * (bytes ? 1 : extent));
    }

    std::mt19937 random_;
    std::vector<Sample> samples_;
};

struct Handle : Datatype {
    explicit Handle(const DefinitionPointer& of) {
        static_cast<Geometry&>(*this) = *of;
        definition = of;
    }
};

/// Memory around the user's address, wide enough for `count` elements.
struct Memory {
    Memory(const TypeMap& map, std::int64_t count) {
        std::int64_t low = 0, high = 0;
        for (std::int64_t i : {std::int64_t{0}, count - 1}) {
            low = std::min(low, map.true_lower() + i * map.extent());
            high = std::max(high, map.true_upper() + i * map.extent());
        }
        origin = static_cast<std::size_t>(-low) + 16;
        bytes.resize(origin + static_cast<std::size_t>(high) + 16);
    }
    std::byte* address() { return bytes.data() + origin; }
    std::vector<std::byte> bytes;
    std::size_t origin;
};

/// Returns the place of each byte of the packed form, relative to the user's address.
inline std::vector<std::int64_t> places(const TypeMap& map, std::int64_t count) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < count; ++i)
        for (const Item& item : map.items)
            for (std::int64_t byte = 0; byte < item.type->size; ++byte)
                all.push_back(i * map.extent() + item.at + byte);
    return all;
}

}  // namespace heddle::testing

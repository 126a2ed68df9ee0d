// SPDX-License-Identifier: BSD-3-Clause
#include "objects/sections.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "objects/basic_types.hpp"

namespace heddle::objects {
namespace {

DefinitionPointer predefined(MPI_Datatype type) {
    return DefinitionPointer(predefined_definition(type));
}

DefinitionPointer make(int combiner, std::vector<std::int64_t> numbers, DefinitionPointer old) {
    Recipe recipe;
    recipe.combiner = combiner;
    recipe.numbers = std::move(numbers);
    recipe.types = {std::move(old)};
    return define(std::move(recipe));
}

/// Returns the places by the type map, one byte at a time.
std::vector<std::int64_t> places_of(const Definition& type) {
    if (type.basic != nullptr) {
        std::vector<std::int64_t> places;
        for (std::int64_t i = 0; i < type.size; ++i) places.push_back(i);
        return places;
    }
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < type.parts(); ++i) {
        const Part part = type.part(i);
        const std::vector<std::int64_t> inner = places_of(*part.type);
        for (std::int64_t k = 0; k < part.length; ++k)
            for (const std::int64_t place : inner)
                places.push_back(part.displacement + k * part.type->extent + place);
    }
    return places;
}

DefinitionPointer draw(std::mt19937& random, int depth) {
    const auto number = [&](std::int64_t least, std::int64_t most) {
        return least +
            static_cast<std::int64_t>(random() % static_cast<unsigned>(most - least + 1));
    };
    DefinitionPointer type = predefined(number(0, 1) == 0 ? MPI_INT : MPI_SHORT);
    for (int i = 0; i < depth; ++i) {
        switch (number(0, 3)) {
            case 0: type = make(MPI_COMBINER_CONTIGUOUS, {number(1, 4)}, std::move(type)); break;
            case 1: {
                const std::int64_t length = number(1, 3);
                type = make(MPI_COMBINER_VECTOR, {number(1, 4), length, length + number(0, 3)},
                            std::move(type));
                break;
            }
            case 2: {
                const std::int64_t count = number(1, 4);
                std::vector<std::int64_t> numbers{count};
                std::vector<std::int64_t> places;
                std::int64_t at = 0;
                for (std::int64_t k = 0; k < count; ++k) {
                    at += number(0, 2);
                    const std::int64_t length = number(1, 3);
                    numbers.push_back(length);
                    places.push_back(at);
                    at += length;
                }
                numbers.insert(numbers.end(), places.begin(), places.end());
                type = make(MPI_COMBINER_INDEXED, std::move(numbers), std::move(type));
                break;
            }
            default: {
                const std::int64_t extent = type->true_upper_bound() + number(0, 5);
                type = make(MPI_COMBINER_RESIZED, {0, extent}, std::move(type));
            }
        }
    }
    return type;
}

TEST(Sections, random_types_agree_with_their_type_maps) {
    std::mt19937 random(7);
    for (int i = 0; i < 600; ++i) {
        const DefinitionPointer type = draw(random, 1 + i % 5);
        const std::vector<std::int64_t> places = places_of(*type);
        const std::int64_t origin = i % 11;
        const auto place = [&](std::uint64_t k) {
            return origin + static_cast<std::int64_t>(k / places.size()) * type->extent +
                places[k % places.size()];
        };
        const Endless data(*type, origin);
        const std::uint64_t all = 3 * places.size();
        const std::uint64_t from = random() % all, bytes = random() % (all - from + 1);
        std::uint64_t k = from;
        Sections sections(data, from, bytes);
        for (Section section; sections.next(section);)
            for (std::uint64_t block = 0; block < section.count; ++block)
                for (std::uint64_t byte = 0; byte < section.bytes; ++byte, ++k)
                    ASSERT_EQ(section.block(block) + static_cast<std::int64_t>(byte), place(k))
                        << "type " << i << ", byte " << k;
        ASSERT_EQ(k, from + bytes);
        const Pattern pattern = pattern_of(*type);
        ASSERT_TRUE(pattern.ordered && pattern.disjoint && pattern.repeats) << "type " << i;
        for (std::uint64_t at = 0; at < all; ++at) {
            ASSERT_EQ(data.place(at), place(at));
            ASSERT_EQ(data.before(place(at)), at) << "type " << i;
        }
    }
}

TEST(Sections, stride_of_a_million_blocks_is_one_section) {
    const auto type = make(MPI_COMBINER_VECTOR, {1000000, 1, 2}, predefined(MPI_INT));
    Sections sections(Endless(*type, 0), 0, 4000000);
    Section section;
    ASSERT_TRUE(sections.next(section));
    EXPECT_EQ(section.count, 1000000u);
    EXPECT_EQ(section.bytes, 4u);
    EXPECT_EQ(section.stride, 8);
    EXPECT_FALSE(sections.next(section));
}

TEST(Sections, pattern_of_decreasing_places_is_not_ordered) {
    const auto down = make(MPI_COMBINER_INDEXED, {2, 1, 1, 3, 1}, predefined(MPI_INT));
    EXPECT_FALSE(pattern_of(*down).ordered);
    const auto twice = make(MPI_COMBINER_INDEXED, {2, 2, 1, 0, 1}, predefined(MPI_INT));
    EXPECT_TRUE(pattern_of(*twice).ordered);
    EXPECT_FALSE(pattern_of(*twice).disjoint);
}

TEST(Sections, elements_that_overlap_their_neighbours_do_not_repeat) {
    const auto short_one = make(MPI_COMBINER_RESIZED, {0, 4},
                                make(MPI_COMBINER_VECTOR, {2, 1, 2}, predefined(MPI_INT)));
    EXPECT_TRUE(pattern_of(*short_one).disjoint);
    EXPECT_FALSE(pattern_of(*short_one).repeats);
    const Endless first = Endless::first_of(*short_one, 100);
    EXPECT_EQ(first.place(7), 111);
    EXPECT_EQ(first.before(1000), 8u);
    EXPECT_EQ(first.before(109), 5u);
}

}  // namespace
}  // namespace heddle::objects

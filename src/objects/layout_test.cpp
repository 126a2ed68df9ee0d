// SPDX-License-Identifier: BSD-3-Clause
#include "objects/layout.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "testing/rounds.hpp"
#include "testing/type_map.hpp"

namespace heddle::objects {
namespace {

using testing::Handle;
using testing::Maker;
using testing::Memory;
using testing::places;
using testing::recipe_of;
using testing::Sample;
using testing::TypeMap;

void expect_geometry(const Definition& is, const TypeMap& rule) {
    EXPECT_EQ(is.size, rule.size());
    EXPECT_EQ(is.lower_bound, rule.lower());
    EXPECT_EQ(is.extent, rule.extent());
    EXPECT_EQ(is.true_lower_bound, rule.true_lower());
    EXPECT_EQ(is.true_extent, rule.true_upper() - rule.true_lower());
    EXPECT_EQ(is.elements, static_cast<std::int64_t>(rule.items.size()));
    if (is.contiguous) {
        const auto where = places(rule, 2);
        for (std::size_t i = 0; i < where.size(); ++i)
            ASSERT_EQ(where[i], static_cast<std::int64_t>(i));
    }
}

void expect_moves(Maker& maker, const Sample& sample) {
    const std::int64_t count = maker.number(1, 5);
    const std::vector<std::int64_t> where = places(sample.map, count);
    Memory memory(sample.map, count);
    for (std::size_t i = 0; i < memory.bytes.size(); ++i)
        memory.bytes[i] = static_cast<std::byte>(maker.number(0, 255));
    const Handle type(sample.definition);
    const auto all = static_cast<std::int64_t>(where.size());
    for (int round = 0; round < 4; ++round) {
        const std::int64_t from = round == 0 ? 0 : maker.number(0, all);
        const std::int64_t bytes = round == 0 ? all : maker.number(0, all - from);
        std::vector<std::byte> packed(static_cast<std::size_t>(bytes) + 2, std::byte{0x5a});
        pack(type, memory.address(), static_cast<std::uint64_t>(from), packed.data() + 1,
             static_cast<std::uint64_t>(bytes));
        EXPECT_EQ(packed.front(), std::byte{0x5a});
        EXPECT_EQ(packed.back(), std::byte{0x5a});
        for (std::int64_t i = 0; i < bytes; ++i)
            ASSERT_EQ(packed[static_cast<std::size_t>(i + 1)],
                      memory.address()[where[static_cast<std::size_t>(from + i)]])
                << "byte " << from + i << " of " << all;

        Memory target(sample.map, count);
        std::vector<std::byte> expected = target.bytes;
        for (std::int64_t i = 0; i < bytes; ++i)
            expected[target.origin +
                     static_cast<std::size_t>(where[static_cast<std::size_t>(from + i)])] =
                packed[static_cast<std::size_t>(i + 1)];
        unpack(type, target.address(), static_cast<std::uint64_t>(from), packed.data() + 1,
               static_cast<std::uint64_t>(bytes));
        // If data overlap, any order may win: these are the bytes of memory that were packed.
        ASSERT_EQ(target.bytes, expected);
    }
}

TEST(Layout, agrees_with_the_type_map) {
    for (unsigned seed = 0; seed < testing::rounds_in_one_thread(25); ++seed) {
        Maker maker(seed);
        for (unsigned i = 0; i < testing::rounds_in_one_thread(60); ++i) {
            const Sample sample = maker.make();
            ASSERT_TRUE(sample.definition);
            expect_geometry(*sample.definition, sample.map);
            if (!sample.map.items.empty()) expect_moves(maker, sample);
            ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << ", type " << i;
        }
    }
}

DefinitionPointer integer() { return DefinitionPointer(predefined_definition(MPI_INT)); }

/// Expects the packed form of the first element. Each int of the memory has its own value.
void expect_integers(const DefinitionPointer& definition, const std::vector<std::int64_t>& at) {
    const Handle type(definition);
    ASSERT_EQ(definition->size, static_cast<std::int64_t>(at.size() * sizeof(int)));
    const auto room = static_cast<std::size_t>(definition->true_upper_bound()) / sizeof(int) + 1;
    std::vector<int> memory(room), packed(at.size()), back(room, -1);
    for (std::size_t i = 0; i < room; ++i) memory[i] = static_cast<int>(i);
    const std::size_t bytes = packed.size() * sizeof(int), piece = 4096 + 4;
    auto* to = reinterpret_cast<std::byte*>(packed.data());
    for (std::size_t from = 0; from < bytes; from += piece) {
        const std::size_t some = std::min(piece, bytes - from);
        pack(type, reinterpret_cast<std::byte*>(memory.data()), from, to + from, some);
        unpack(type, reinterpret_cast<std::byte*>(back.data()), from, to + from, some);
    }
    for (std::size_t i = 0; i < at.size(); ++i) {
        ASSERT_EQ(packed[i], at[i] / 4);
        ASSERT_EQ(back[static_cast<std::size_t>(at[i] / 4)], packed[i]);
    }
}

/// Puts an int in front of the type before, and a gap between them, so that nothing can be merged.
TEST(Layout, of_types_nested_very_deeply) {
    for (const int depth : {1000, static_cast<int>(testing::rounds_in_one_thread(100000))}) {
        DefinitionPointer type = integer();
        std::vector<std::int64_t> at;
        for (int i = 0; i < depth; ++i)
            type = define(recipe_of(MPI_COMBINER_STRUCT, {2, 1, 1, 0, 8}, {integer(), type}));
        for (int i = 0; i <= depth; ++i) at.push_back(8 * i);
        ASSERT_TRUE(type);
        expect_integers(type, at);
        for (int i = 0; i < depth; ++i) type = define(recipe_of(MPI_COMBINER_DUP, {}, {type}));
        EXPECT_EQ(type->elements, depth + 1);
        expect_integers(type, at);
    }
}

/// Nests long lists in long lists, which are not merged, more deeply than any recursion goes.
TEST(Layout, of_long_lists_nested_deeply) {
    constexpr std::int64_t each = 300, depth = 500;
    DefinitionPointer type = integer();
    std::vector<std::int64_t> at{0};
    std::mt19937 random(1);
    for (std::int64_t i = 0; i < depth; ++i) {
        std::vector<std::int64_t> numbers{each + 1}, displacements;
        std::vector<DefinitionPointer> types(each, integer());
        std::int64_t end = type->true_upper_bound();
        displacements.push_back(0);
        std::vector<std::int64_t> added;
        for (std::int64_t k = 0; k < each; ++k) {
            added.push_back((end + 3) / 4 * 4 + 4 * (1 + static_cast<std::int64_t>(random() % 5)));
            end = added.back() + 4;
        }
        displacements.insert(displacements.end(), added.begin(), added.end());
        numbers.insert(numbers.end(), each + 1, 1);
        numbers.insert(numbers.end(), displacements.begin(), displacements.end());
        types.insert(types.begin(), type);
        at.insert(at.end(), added.begin(), added.end());
        type = define(recipe_of(MPI_COMBINER_STRUCT, numbers, std::move(types)));
        ASSERT_TRUE(type);
    }
    EXPECT_GT(type->data.body.node->depth, 64u);
    expect_integers(type, at);
}

TEST(Layout, of_a_million_blocks) {
    constexpr std::int64_t count = 1000000;
    std::vector<std::int64_t> numbers{count}, displacements, at;
    std::mt19937 random(1);
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t length = 1 + static_cast<std::int64_t>(random() % 3);
        numbers.push_back(length);
        displacements.push_back(next);
        for (std::int64_t k = 0; k < length; ++k) at.push_back(4 * (next + k));
        next += length + 1 + static_cast<std::int64_t>(random() % 3);
    }
    numbers.insert(numbers.end(), displacements.begin(), displacements.end());
    expect_integers(define(recipe_of(MPI_COMBINER_INDEXED, numbers, {integer()})), at);
}

TEST(Layout, does_not_grow_with_what_is_shared) {
    DefinitionPointer type = integer();
    for (int i = 0; i < 40; ++i) {
        const std::int64_t apart = type->extent + 4 * (i % 3);
        type = define(recipe_of(MPI_COMBINER_STRUCT, {3, 1, 1, 1, 0, apart, 2 * apart + 4},
                                {type, type, integer()}));
        ASSERT_TRUE(type);
    }
    EXPECT_GT(type->size, std::int64_t{1} << 40);
    std::uint64_t entries = 0;
    for (const DefinitionPointer* at = &type; (*at)->basic == nullptr; at = &(*at)->recipe.types[0])
        for (const auto& node : (*at)->nodes) entries += node->count;
    EXPECT_LT(entries, 40u * 600);
}

TEST(Layout, merges_what_is_one) {
    const auto vector = [](std::int64_t count, std::int64_t length, std::int64_t stride,
                           DefinitionPointer old) {
        return define(recipe_of(MPI_COMBINER_VECTOR, {count, length, stride}, {std::move(old)}));
    };
    const auto node = [](const DefinitionPointer& type) { return type->data.body.node; };
    EXPECT_EQ(node(vector(5, 2, 2, integer())), nullptr);  // a block
    EXPECT_TRUE(vector(5, 2, 2, integer())->contiguous);
    const auto loop =
        define(recipe_of(MPI_COMBINER_HVECTOR, {3, 1, 40}, {vector(5, 1, 2, integer())}));
    EXPECT_EQ(node(loop)->count, 15u);  // one loop, not two
    EXPECT_EQ(node(loop)->child.node, nullptr);
    const auto listed =
        define(recipe_of(MPI_COMBINER_INDEXED_BLOCK, {4, 1, 0, 3, 6, 9}, {integer()}));
    EXPECT_EQ(node(listed)->kind, Node::Kind::strided);
    const auto touching =
        define(recipe_of(MPI_COMBINER_INDEXED, {3, 1, 2, 1, 4, 5, 7}, {integer()}));
    EXPECT_EQ(node(touching), nullptr);
    EXPECT_EQ(touching->data.at, 16);
    EXPECT_FALSE(touching->contiguous);
    const auto all = define(recipe_of(MPI_COMBINER_INDEXED_BLOCK, {4, 2, 0, 2, 4, 6}, {integer()}));
    EXPECT_TRUE(all->contiguous);
    const auto runs = define(
        recipe_of(MPI_COMBINER_INDEXED_BLOCK, {8, 1, 0, 1, 2, 3, 10, 11, 12, 13}, {integer()}));
    EXPECT_EQ(node(runs)->count, 2u);
    // Columns side by side. Each is a loop that ends where the next begins: no gaps between
    // elements.
    const auto column =
        define(recipe_of(MPI_COMBINER_RESIZED, {0, 40}, {vector(5, 1, 2, integer())}));
    EXPECT_EQ(column->sequence.body.node, nullptr);
    EXPECT_EQ(column->period, 8);
}

TEST(Layout, refuses_what_needs_more_than_63_bits) {
    const std::int64_t large = std::int64_t{1} << 61,
                       most = std::numeric_limits<std::int64_t>::max();
    const auto refused = [](int combiner, std::vector<std::int64_t> numbers) {
        return !define(recipe_of(combiner, std::move(numbers), {integer()}));
    };
    EXPECT_TRUE(refused(MPI_COMBINER_CONTIGUOUS, {large}));
    EXPECT_FALSE(refused(MPI_COMBINER_CONTIGUOUS, {large - 1}));
    EXPECT_TRUE(refused(MPI_COMBINER_CONTIGUOUS, {most}));
    EXPECT_TRUE(refused(MPI_COMBINER_VECTOR, {2, 1, most}));
    EXPECT_FALSE(refused(MPI_COMBINER_VECTOR, {1, 1, most}));
    EXPECT_TRUE(refused(MPI_COMBINER_VECTOR, {most, most, 0}));
    EXPECT_TRUE(refused(MPI_COMBINER_HVECTOR, {3, 1, -most}));
    EXPECT_TRUE(refused(MPI_COMBINER_INDEXED, {1, 1, most}));
    EXPECT_FALSE(refused(MPI_COMBINER_INDEXED, {1, 0, most}));
    EXPECT_TRUE(refused(MPI_COMBINER_HINDEXED, {1, 1, most - 2}));
    EXPECT_TRUE(refused(MPI_COMBINER_HINDEXED, {2, 1, 1, most - 4, -most}));
    EXPECT_TRUE(refused(MPI_COMBINER_RESIZED, {most, 1}));
}

}  // namespace
}  // namespace heddle::objects

// SPDX-License-Identifier: BSD-3-Clause
/// Tests of what is known about datatypes and made of their type maps, besides moving their data.

#include "objects/definition.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "objects/array_types.hpp"
#include "objects/contents.hpp"
#include "objects/external32.hpp"
#include "objects/type_walk.hpp"
#include "testing/type_map.hpp"

namespace heddle::objects {
namespace {

using testing::Handle;
using testing::Maker;
using testing::Memory;
using testing::recipe_of;
using testing::Sample;
using testing::TypeMap;

TEST(Definition, counts_elements_by_the_type_map) {
    for (unsigned seed = 0; seed < 30; ++seed) {
        Maker maker(seed);
        for (int i = 0; i < 40; ++i) {
            const Sample sample = maker.make();
            const Handle type(sample.definition);
            const auto& items = sample.map.items;
            if (items.empty()) continue;
            std::int64_t bytes = 0;
            const std::int64_t wanted =
                maker.number(0, 3 * static_cast<std::int64_t>(items.size()));
            for (std::int64_t k = 0; k < wanted; ++k)
                bytes += items[static_cast<std::size_t>(k) % items.size()].type->size;
            ASSERT_EQ(elements_in(static_cast<std::uint64_t>(bytes), type), wanted);
            ASSERT_EQ(bytes_of_elements(wanted, type), bytes);
            const BasicType& next = *items[static_cast<std::size_t>(wanted) % items.size()].type;
            if (next.size > 1) {
                ASSERT_EQ(elements_in(static_cast<std::uint64_t>(bytes + 1), type), MPI_UNDEFINED);
            }
            const bool whole = wanted % static_cast<std::int64_t>(items.size()) == 0;
            ASSERT_EQ(count_in(static_cast<std::uint64_t>(bytes), type),
                      whole ? wanted / static_cast<std::int64_t>(items.size())
                            : std::int64_t{MPI_UNDEFINED});
        }
    }
}

TEST(External32, has_the_data_in_order_and_comes_back) {
    for (unsigned seed = 0; seed < 30; ++seed) {
        Maker maker(seed);
        for (int i = 0; i < 40; ++i) {
            const Sample sample = maker.make();
            const std::int64_t count = maker.number(1, 3);
            // Zeros, and small numbers in the lowest bytes: narrower formats lose nothing.
            Memory memory(sample.map, count), back(sample.map, count);
            std::vector<std::byte> expected;
            std::vector<bool> taken(memory.bytes.size());
            bool overlap = false;
            for (std::int64_t element = 0; element < count; ++element)
                for (const auto& item : sample.map.items)
                    for (std::int64_t byte = 0; byte < item.type->size; ++byte) {
                        const auto at = memory.origin +
                            static_cast<std::size_t>(element * sample.map.extent() + item.at +
                                                     byte);
                        overlap = overlap || taken[at];
                        taken[at] = true;
                    }
            if (overlap) continue;
            for (std::int64_t element = 0; element < count; ++element) {
                for (const auto& item : sample.map.items) {
                    const std::int64_t unit = item.type->size / item.type->values;
                    const std::int64_t external = item.type->external_size / item.type->values;
                    for (std::int64_t value = 0; value < item.type->values; ++value) {
                        std::byte* place = memory.address() + element * sample.map.extent() +
                            item.at + value * unit;
                        if (item.type->external == External::long_double) {
                            const long double one = 1;
                            std::memcpy(place, &one, 10);  // the rest is padding
                            expected.insert(expected.end(), {std::byte{0x3f}, std::byte{0xff}});
                            expected.insert(expected.end(), 14, std::byte{0});
                            continue;
                        }
                        const auto low = static_cast<std::byte>(maker.number(0, 127));
                        place[0] = low;
                        expected.insert(expected.end(), static_cast<std::size_t>(external - 1),
                                        std::byte{0});
                        expected.push_back(low);
                    }
                }
            }
            ASSERT_EQ(static_cast<std::int64_t>(expected.size()),
                      count * sample.definition->external_size);
            std::vector<std::byte> packed(expected.size());
            pack_external(*sample.definition, memory.address(), count, packed.data());
            ASSERT_EQ(packed, expected);
            unpack_external(*sample.definition, back.address(), count, packed.data());
            ASSERT_EQ(back.bytes, memory.bytes);
        }
    }
}

TEST(External32, keeps_signs_and_long_doubles) {
    const auto round_trip = [](MPI_Datatype handle, auto value, std::vector<int> expected) {
        const Definition& type = *predefined_definition(handle);
        std::vector<std::byte> packed(static_cast<std::size_t>(type.external_size));
        ASSERT_EQ(packed.size(), expected.size());
        pack_external(type, reinterpret_cast<std::byte*>(&value), 1, packed.data());
        for (std::size_t i = 0; i < packed.size(); ++i)
            EXPECT_EQ(static_cast<int>(packed[i]), expected[i]);
        auto back = value;
        std::memset(&back, 0x77, sizeof back);
        unpack_external(type, reinterpret_cast<std::byte*>(&back), 1, packed.data());
        EXPECT_EQ(back, value);
    };
    round_trip(MPI_LONG, -2L, {0xff, 0xff, 0xff, 0xfe});
    round_trip(MPI_UNSIGNED_LONG, 0xfffffffeUL, {0xff, 0xff, 0xff, 0xfe});
    round_trip(MPI_WCHAR, L'\u20ac', {0x20, 0xac});
    round_trip(MPI_SHORT, static_cast<short>(0x1234), {0x12, 0x34});
    round_trip(MPI_DOUBLE, -2.5, {0xc0, 0x04, 0, 0, 0, 0, 0, 0});
    round_trip(MPI_LONG_DOUBLE, -2.5L, {0xc0, 0x00, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

/// Makes the type again from its contents.
DefinitionPointer made_again(const Definition& type) {
    const Contents contents = contents_of(type);
    Recipe recipe;
    recipe.combiner = contents.combiner;
    for (const Definition* inner : contents.types) {
        hold(inner);
        recipe.types.emplace_back(inner);
    }
    recipe.numbers.assign(contents.integers.begin(), contents.integers.end());
    recipe.numbers.insert(recipe.numbers.end(), contents.addresses.begin(),
                          contents.addresses.end());
    return define(std::move(recipe));
}

TEST(Contents, make_the_same_type_again) {
    Maker maker(1);
    for (int i = 0; i < 500; ++i) {
        const Sample sample = maker.make();
        const DefinitionPointer again = made_again(*sample.definition);
        EXPECT_EQ(again->size, sample.definition->size);
        EXPECT_EQ(again->extent, sample.definition->extent);
        EXPECT_EQ(again->lower_bound, sample.definition->lower_bound);
        EXPECT_EQ(again->recipe.numbers, sample.definition->recipe.numbers);
    }
}

/// The places of an array's bytes, in the order in which its elements are packed.
struct Places {
    std::vector<std::int64_t> at;
    void operator()(const BasicType&, Place place, std::int64_t length) {
        for (std::int64_t i = 0; i < length; ++i)
            at.push_back(static_cast<std::int64_t>(place) / 4 + i);
    }
};

/// Returns whether a process has an index of a dimension.
bool has(std::int64_t index, std::int64_t size, int distribution, int argument, int processes,
         int coordinate) {
    if (distribution == MPI_DISTRIBUTE_NONE) return true;
    std::int64_t block = argument;
    if (argument == MPI_DISTRIBUTE_DFLT_DARG)
        block = distribution == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
    return index / block % processes == coordinate;
}

TEST(ArrayTypes, are_the_indices_that_a_process_has) {
    Maker maker(7);
    for (int round = 0; round < 400; ++round) {
        const auto n = static_cast<std::size_t>(maker.number(1, 3));
        const int order = maker.number(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
        const bool sub = maker.number(0, 1) == 0;
        std::vector<std::int64_t> sizes, subsizes, starts;
        std::vector<int> distributions, arguments, processes, coordinates;
        int size = 1, rank = 0;
        for (std::size_t i = 0; i < n; ++i) {
            sizes.push_back(maker.number(1, 9));
            subsizes.push_back(maker.number(1, sizes[i]));
            starts.push_back(maker.number(0, sizes[i] - subsizes[i]));
            const auto distribution =
                static_cast<int>(maker.number(MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC));
            const int grid =
                distribution == MPI_DISTRIBUTE_NONE ? 1 : static_cast<int>(maker.number(1, 4));
            const std::int64_t least =
                distribution == MPI_DISTRIBUTE_BLOCK ? (sizes[i] + grid - 1) / grid : 1;
            distributions.push_back(distribution);
            processes.push_back(grid);
            arguments.push_back(maker.number(0, 1) == 0
                                    ? MPI_DISTRIBUTE_DFLT_DARG
                                    : static_cast<int>(maker.number(least, least + 3)));
            coordinates.push_back(static_cast<int>(maker.number(0, grid - 1)));
            size *= grid;
            rank = rank * grid + coordinates[i];
        }
        Recipe recipe;
        recipe.types.emplace_back(predefined_definition(MPI_INT));
        recipe.numbers = sizes;
        DefinitionPointer type;
        if (sub) {
            recipe.combiner = MPI_COMBINER_SUBARRAY;
            recipe.integers = {static_cast<int>(n), order};
            recipe.numbers.insert(recipe.numbers.end(), subsizes.begin(), subsizes.end());
            recipe.numbers.insert(recipe.numbers.end(), starts.begin(), starts.end());
            type = define_subarray(std::move(recipe));
        } else {
            recipe.combiner = MPI_COMBINER_DARRAY;
            recipe.integers = {size, rank, static_cast<int>(n)};
            for (const auto* array : {&distributions, &arguments, &processes})
                recipe.integers.insert(recipe.integers.end(), array->begin(), array->end());
            recipe.integers.push_back(order);
            type = define_distributed_array(std::move(recipe));
        }
        // Go through all elements in the order of memory, and keep those that the process has.
        std::int64_t all = 1;
        for (const std::int64_t one : sizes) all *= one;
        std::vector<std::int64_t> expected;
        for (std::int64_t at = 0; at < all; ++at) {
            std::int64_t rest = at;
            bool mine = true;
            for (std::size_t k = 0; k < n; ++k) {
                const std::size_t i = order == MPI_ORDER_FORTRAN ? k : n - 1 - k;
                const std::int64_t index = rest % sizes[i];
                rest /= sizes[i];
                mine = mine &&
                    (sub ? index >= starts[i] && index < starts[i] + subsizes[i]
                         : has(index, sizes[i], distributions[i], arguments[i], processes[i],
                               coordinates[i]));
            }
            if (mine) expected.push_back(at);
        }
        ASSERT_TRUE(type);
        EXPECT_EQ(type->extent, 4 * all);
        EXPECT_EQ(type->lower_bound, 0);
        Places places;
        walk(*type, 0, 1, [&](const BasicType& basic, Place place, std::int64_t length) {
            places(basic, place, length);
        });
        ASSERT_EQ(places.at, expected) << "round " << round;
        const Handle handle(type);
        std::vector<int> memory(static_cast<std::size_t>(all)), packed(expected.size());
        for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<int>(i);
        pack(handle, reinterpret_cast<std::byte*>(memory.data()), 0,
             reinterpret_cast<std::byte*>(packed.data()), 4 * packed.size());
        ASSERT_TRUE(std::equal(packed.begin(), packed.end(), expected.begin()));
    }
}

TEST(Definition, is_shared_by_threads_that_build_on_it_and_let_it_go) {
    DefinitionPointer shared = define(recipe_of(
        MPI_COMBINER_VECTOR, {3, 1, 2}, {DefinitionPointer(predefined_definition(MPI_INT))}));
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([shared, &right] {
            for (int k = 0; k < 1000; ++k) {
                DefinitionPointer mine = define(recipe_of(MPI_COMBINER_CONTIGUOUS, {2}, {shared}));
                mine = define(recipe_of(MPI_COMBINER_DUP, {}, {mine}));
                if (mine->size == 24) ++right;
            }
        });
    }
    shared = {};
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 4000);
}

}  // namespace
}  // namespace heddle::objects

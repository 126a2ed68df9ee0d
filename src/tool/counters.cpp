// SPDX-License-Identifier: BSD-3-Clause
#include "tool/counters.hpp"

namespace heddle::tool {
namespace {

constexpr std::array<CounterInfo, counter_count> make_counter_lines() noexcept {
    std::array<CounterInfo, counter_count> table{};
    std::size_t next = 0;
    Category here{};
#define CATEGORY(Type, name, doc) here = Category::name;
#define LINE(kind, name, unit, doc) \
    table[next++] = {#name, #unit, doc, CounterClass::kind, here, CounterIndex::name};
#define COUNTER(name, unit, doc) LINE(counter, name, unit, doc)
#define LEVEL(name, unit, doc) LINE(level, name, unit, doc)
#define MOST(name, unit, doc) LINE(most, name, unit, doc)
#define COMM_LEVEL(name, unit, doc) LINE(communicator_level, name, unit, doc)
#define THREAD_COUNTER(name, unit, doc) LINE(thread_counter, name, unit, doc)
#define INSTANCE(kind, name, unit, doc)                                                          \
    table[next++] = {                                                                            \
        "instance_" #name, #unit, "In each instance: " doc, CounterClass::instance_##kind, here, \
        CounterIndex::name};
#define COMM(kind, name, unit, doc)                     \
    table[next++] = {"comm_" #name,                     \
                     #unit,                             \
                     "On one communicator: " doc,       \
                     CounterClass::communicator_##kind, \
                     here,                              \
                     CounterIndex::name};
#include "tool/all.def"
#undef LINE
    return table;
}

constexpr auto counter_lines = make_counter_lines();

constexpr CategoryInfo category_lines[] = {
#define CATEGORY(Type, name, doc) {#name, doc},
#include "tool/all.def"
};

}  // namespace

std::span<const CounterInfo> counter_table() noexcept { return counter_lines; }
std::span<const CategoryInfo> category_table() noexcept { return category_lines; }

}  // namespace heddle::tool

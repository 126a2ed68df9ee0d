// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The counters, from the lines of tool/all.def: a struct for each category, and one table of all.
///
/// Places         each struct lies where its writer works: in threads (core/thread.hpp), instances
///                and their rings (instance/), matchers, files, or the network. One in a new place
///                is added up in p2p/report/counters.cpp. Otherwise its counters stay 0.
/// Reading        code that knows the places adds them up: `Values sums; sums += instance.sending;
///                ...`. The numbers are read one after the other while threads run. Each is right
///                for a moment of its own.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tool/categories.hpp"
#include "tool/counter.hpp"

namespace heddle::tool {

namespace counters {
#define CATEGORY(Type, name, doc) struct Type {
#define COUNTER(name, unit, doc) Counter name;
#define LEVEL(name, unit, doc) Counter name;
#define MOST(name, unit, doc) Counter name;
#define END_CATEGORY(Type, name) \
    }                            \
    ;
#include "tool/all.def"
}  // namespace counters

enum class CounterClass : std::uint8_t {
    counter,
    level,
    most,
    thread_counter,
    instance_counter,
    instance_level,
    instance_most,
    communicator_counter,
    communicator_level,
    communicator_most,
};

/// The index of each counter in the table. Those of communicators, threads and instances are read
/// differently (p2p/report/counters.hpp).
enum class CounterIndex : std::uint8_t {
#define COUNTER(name, unit, doc) name,
#define LEVEL(name, unit, doc) name,
#define MOST(name, unit, doc) name,
#define COMM_LEVEL(name, unit, doc) name,
#define COMM(kind, name, unit, doc) comm_##name,
#define THREAD_COUNTER(name, unit, doc) name,
#define INSTANCE(kind, name, unit, doc) instance_##name,
#include "tool/all.def"
};

struct CounterInfo {
    const char* name;
    const char* unit;
    const char* doc;
    CounterClass kind;
    Category category;
    CounterIndex
        whole;  ///< for instances and communicators the process's counter; for others itself
};

inline bool is_of_instances(CounterClass kind) noexcept {
    return kind >= CounterClass::instance_counter && kind <= CounterClass::instance_most;
}
inline bool is_of_communicators(CounterClass kind) noexcept {
    return kind >= CounterClass::communicator_counter;
}
/// Returns true if it has a value for each thread, or each instance.
inline bool is_array(CounterClass kind) noexcept {
    return kind == CounterClass::thread_counter || is_of_instances(kind);
}

/// Returns all counters, indexed by CounterIndex.
std::span<const CounterInfo> counter_table() noexcept;

inline constexpr std::size_t counter_count = 0
#define COUNTER(name, unit, doc) +1
#define LEVEL(name, unit, doc) +1
#define MOST(name, unit, doc) +1
#define COMM_LEVEL(name, unit, doc) +1
#define COMM(kind, name, unit, doc) +1
#define THREAD_COUNTER(name, unit, doc) +1
#define INSTANCE(kind, name, unit, doc) +1
#include "tool/all.def"
    ;
static_assert(counter_count <= 256, "CounterIndex is a byte");

/// A value for each counter of the process.
struct Values {
    std::array<std::uint64_t, counter_count> all{};

    std::uint64_t& operator[](CounterIndex which) noexcept {
        return all[static_cast<std::size_t>(which)];
    }
    std::uint64_t operator[](CounterIndex which) const noexcept {
        return all[static_cast<std::size_t>(which)];
    }

    void add(const Values& other) noexcept {
        for (std::size_t i = 0; i < counter_count; ++i) all[i] += other.all[i];
    }

    // Adds the counts of one place: sums, and the highest of the highest.
#define CATEGORY(Type, name, doc) Values& operator+=(const counters::Type& place) noexcept {
#define COUNTER(name, unit, doc) (*this)[CounterIndex::name] += place.name.value();
#define LEVEL(name, unit, doc) COUNTER(name, unit, doc)
#define MOST(name, unit, doc) raise((*this)[CounterIndex::name], place.name.value());
#define END_CATEGORY(Type, name) \
    static_cast<void>(place);    \
    return *this;                \
    }
#include "tool/all.def"

private:
    static void raise(std::uint64_t& highest, std::uint64_t value) noexcept {
        if (highest < value) highest = value;
    }
};

}  // namespace heddle::tool

// SPDX-License-Identifier: BSD-3-Clause
#include "tool/events.hpp"

namespace heddle::tool {
namespace {

constexpr std::size_t event_count = 0
#define EVENT(name, elements, doc) +1
#include "tool/all.def"
    ;

constexpr std::array<EventInfo, event_count> make_event_lines() noexcept {
    std::array<EventInfo, event_count> table{};
    std::size_t next = 0;
    Category here{};
#define CATEGORY(Type, name, doc) here = Category::name;
#define EVENT(name, elements, doc) table[next++] = {#name, elements, doc, here};
#include "tool/all.def"
    return table;
}

constexpr auto event_lines = make_event_lines();

}  // namespace

std::span<const EventInfo> event_table() noexcept { return event_lines; }

}  // namespace heddle::tool

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Events that tools may hear of as they happen: the EVENT lines of tool/all.def.
///
/// An event without listeners costs a load and a branch. It is raised on slow paths only. Like all
/// of MPI_T, listeners belong to the program and not to one process.
///
/// Thread safety  raise() from any thread, also while locks of the library are held. So a listener
///                must not call back, except to read the event.

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "tool/categories.hpp"

namespace heddle::tool {

enum class Event : std::uint8_t {
#define EVENT(name, elements, doc) name,
#include "tool/all.def"
};

struct EventInfo {
    const char* name;
    int elements;
    const char* doc;
    Category category;
};

/// Returns all events, indexed by Event.
std::span<const EventInfo> event_table() noexcept;

/// The elements of an event, in the order of its description.
using Elements = std::array<std::int64_t, 3>;

inline constinit std::atomic<std::uint32_t> listened_events{0};  ///< a bit for each Event
using EventSink = void (*)(Event, const Elements&) noexcept;
inline constinit std::atomic<EventSink> event_sink{nullptr};  ///< set before any bit above is set

[[gnu::always_inline]] inline bool is_listened_to(Event event) noexcept {
    return (listened_events.load(std::memory_order_acquire) >> static_cast<unsigned>(event) & 1) !=
        0;
}
inline void raise(Event event, const Elements& elements) noexcept {
    if (is_listened_to(event)) [[unlikely]]
        event_sink.load(std::memory_order_relaxed)(event, elements);
}

}  // namespace heddle::tool

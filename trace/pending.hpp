// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The requests of a process by their handles. They are in parts, each with a lock that two threads
/// seldom want at once.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "platform/cpu.hpp"
#include "tracer.hpp"

namespace heddle::trace {

inline std::uint64_t mix(std::uint64_t value) noexcept {
    value *= 0x9e37'79b9'7f4a'7c15;
    return value ^ value >> 29;
}

class SpinLock {
public:
    void lock() noexcept {
        while (taken_.exchange(true, std::memory_order_acquire)) platform::pause();
    }
    void unlock() noexcept { taken_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> taken_{false};
};

class PendingTable {
public:
    /// Adds an entry, in place of an earlier one with the same handle. Drops it if memory has run
    /// out.
    void put(const Pending& pending) noexcept {
        Part& part = part_of(pending.handle);
        const std::lock_guard guard(part.lock);
        Pending* place = part.find(pending.handle);
        if (place == nullptr || place->handle == 0) {
            if (!part.make_room()) return;
            place = part.find(pending.handle);
            ++part.used;
        }
        *place = pending;
    }
    /// Returns the entry of the handle. Its `handle` is 0 if there is none.
    Pending get(std::uint64_t handle) noexcept {
        Part& part = part_of(handle);
        const std::lock_guard guard(part.lock);
        const Pending* place = part.find(handle);
        return place == nullptr ? Pending{} : *place;
    }
    /// Returns the entry and removes it. It stays if it is persistent and `always` is false.
    Pending take(std::uint64_t handle, bool always) noexcept {
        Part& part = part_of(handle);
        const std::lock_guard guard(part.lock);
        Pending* place = part.find(handle);
        if (place == nullptr || place->handle == 0) return {};
        const Pending found = *place;
        if (always || !found.persistent) part.remove(place);
        return found;
    }

private:
    struct alignas(64) Part {
        SpinLock lock;
        std::size_t used = 0;
        std::vector<Pending> places;  ///< a power of two; colliding handles follow each other

        Pending* find(std::uint64_t handle) noexcept {
            if (places.empty()) return nullptr;
            std::size_t at = home(handle);
            while (places[at].handle != 0 && places[at].handle != handle) at = next(at);
            return &places[at];
        }
        bool make_room() noexcept try {
            if (2 * (used + 1) <= places.size()) return true;
            std::vector<Pending> before(places.empty() ? 64 : 2 * places.size());
            before.swap(places);
            for (const Pending& pending : before)
                if (pending.handle != 0) *find(pending.handle) = pending;
            return true;
        } catch (const std::bad_alloc&) {
            return used + 1 < places.size();
        }
        /// Removes an entry. The entries after it move up, so that no search ends too early.
        void remove(Pending* place) noexcept {
            auto hole = static_cast<std::size_t>(place - places.data());
            for (std::size_t at = next(hole); places[at].handle != 0; at = next(at)) {
                const std::size_t wanted = home(places[at].handle);
                if (distance(wanted, at) < distance(hole, at)) continue;
                places[hole] = places[at];
                hole = at;
            }
            places[hole].handle = 0;
            --used;
        }
        std::size_t home(std::uint64_t handle) const noexcept {
            return static_cast<std::size_t>(mix(handle) >> 8) & (places.size() - 1);
        }
        std::size_t next(std::size_t at) const noexcept { return (at + 1) & (places.size() - 1); }
        std::size_t distance(std::size_t from, std::size_t to) const noexcept {
            return (to - from) & (places.size() - 1);
        }
    };
    Part& part_of(std::uint64_t handle) noexcept { return parts_[mix(handle) >> 58]; }
    std::array<Part, 64> parts_;
};

}  // namespace heddle::trace

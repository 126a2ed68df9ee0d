// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The world (sync/native.hpp) whose atomics cost the virtual time of a Machine. Limits of time are
/// not simulated, since no regime uses them.

#include <atomic>
#include <chrono>
#include <cstdint>

#include "machine.hpp"

namespace heddle::bench {

template <class T>
class CostedAtom {
public:
    CostedAtom() noexcept = default;
    CostedAtom(T value) noexcept : value_(value) {}
    CostedAtom(const CostedAtom&) = delete;
    CostedAtom& operator=(const CostedAtom&) = delete;

    T load(std::memory_order = std::memory_order_seq_cst) const {
        Machine::here().read(&value_);
        return value_;
    }
    void store(T value, std::memory_order = std::memory_order_seq_cst) {
        Machine::here().before_write(&value_, false);
        value_ = value;
        Machine::here().wrote(&value_);
    }
    T exchange(T value, std::memory_order = std::memory_order_seq_cst) {
        return update([&](T) { return value; });
    }
    T fetch_add(T by, std::memory_order = std::memory_order_seq_cst) {
        return update([&](T old) { return static_cast<T>(old + by); });
    }
    T fetch_sub(T by, std::memory_order = std::memory_order_seq_cst) {
        return update([&](T old) { return static_cast<T>(old - by); });
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order,
                                 std::memory_order = std::memory_order_relaxed) {
        const T old = update([&](T was) { return was == expected ? value : was; });
        if (old == expected) return true;
        expected = old;
        return false;
    }
    const T& word() const { return value_; }

private:
    template <class Change>
    T update(Change&& change) {
        Machine::here().before_write(&value_, true);
        const T old = value_;
        value_ = change(old);
        if (old != value_)
            Machine::here().wrote(&value_);
        else
            Machine::here().look_at(&value_);
        return old;
    }

    alignas(std::atomic<T>) T value_{};
};

struct CostedWorld {
    template <class T>
    using Atom = CostedAtom<T>;
    struct Fence {
        static bool available() noexcept { return true; }
        static void light() noexcept {}
        static void heavy() noexcept { Machine::here().heavy_fence(); }
        static void heavy_before_sleep() noexcept { heavy(); }
    };
    static void wait(Atom<std::uint32_t>& word, std::uint32_t expected) noexcept {
        Machine::here().sleep(word.word(), expected);
    }
    static void wait_for(Atom<std::uint32_t>& word, std::uint32_t expected,
                         std::chrono::nanoseconds) noexcept {
        Machine::here().sleep(word.word(), expected);
    }
    static void wake_one(Atom<std::uint32_t>& word) noexcept {
        Machine::here().wake_one(word.word());
    }
    static void pause() noexcept { Machine::here().pause(); }
    /// A spinning thread waits for free at an offer, since it has a processor of its own.
    static constexpr int pauses_before_offer = 1;
    static void yield() noexcept { Machine::here().wait_for_change(); }
    static std::chrono::nanoseconds now() noexcept {
        return std::chrono::nanoseconds{Machine::here().now() / 1000};
    }
    static unsigned processor() noexcept { return Machine::here().processor(); }
    static const platform::Hierarchy& hierarchy() { return Machine::here().hierarchy(); }
};

}  // namespace heddle::bench

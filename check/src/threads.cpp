// SPDX-License-Identifier: BSD-3-Clause
/// Checks whether threads call MPI as the thread level allows.

#include <mutex>

#include "checks.hpp"
#include "findings.hpp"

namespace heddle::check {

namespace {

std::atomic<int> level{MPI_THREAD_MULTIPLE}, threads{0};
thread_local int number = -1, depth = 0;
thread_local bool is_main = false;

/// The thread that is in MPI, below MPI_THREAD_MULTIPLE. Another thread that finds it there reads
/// its call.
struct Inside {
    std::atomic<int> thread{-1};
    std::atomic<int> function{0};
    std::atomic<Place> place{0};
} inside;

const char* name_of_level(int of) {
    return of == MPI_THREAD_SINGLE  ? "MPI_THREAD_SINGLE"
        : of == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED"
                                    : "MPI_THREAD_SERIALIZED";
}

}  // namespace

int own_thread() noexcept {
    if (number < 0) number = threads++;
    return number;
}

void set_thread_level(int of) noexcept {
    level = of;
    is_main = true;
}

void Call::enter() noexcept {
    if (depth++ > 0 || level.load(std::memory_order_relaxed) >= MPI_THREAD_MULTIPLE) return;
    const int at = level;
    const int self = own_thread();
    if (!is_main && at < MPI_THREAD_SERIALIZED) {
        tell("thread-level", name(), place(),
             std::string("a thread that has not initialized MPI calls it under ") +
                 name_of_level(at),
             "Ask MPI_Init_thread for MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE, or leave MPI "
             "to the main thread.");
        return;
    }
    // Only a thread that has found no other inside enters. Plain stores would hide two that come at
    // once.
    int other = -1;
    if (!inside.thread.compare_exchange_strong(other, self, std::memory_order_acq_rel)) {
        const auto function = static_cast<Function>(inside.function.load());
        const Place where = inside.place;
        // The other thread may have left by now. It was inside when this one came, and that counts.
        tell("thread-level", name(), place(),
             "thread " + std::to_string(other) + " is in " + name_of(function) +
                 (where != 0 ? " at " + location_of(where) : "") + " at the same time, under " +
                 name_of_level(at),
             "Ask MPI_Init_thread for MPI_THREAD_MULTIPLE, or let one thread after the other call "
             "MPI.");
        return;
    }
    inside.function.store(static_cast<int>(function()), std::memory_order_relaxed);
    inside.place.store(place(), std::memory_order_relaxed);
}

void Call::leave() noexcept {
    if (--depth > 0 || level.load(std::memory_order_relaxed) >= MPI_THREAD_MULTIPLE) return;
    if (inside.thread.load(std::memory_order_relaxed) == number)
        inside.thread.store(-1, std::memory_order_release);
}

}  // namespace heddle::check

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The short paths of one-sided calls, for the usual case: the same predefined datatype on both
/// sides, memory that this process has mapped, and an open epoch.
///
/// Each gets the long path and the arguments of its MPI function. Either it does the whole call, or
/// nothing has happened and it takes the long path (api/rma.cpp). That finds out why, and raises
/// errors. So nothing here tells what is wrong, and one comparison stands for several questions.
///
/// Writes         the target's memory, the result, and counters of the calling thread. Accumulates
///                also count themselves at the target (rma/row_lock.hpp).
/// Closed         to a target whose short_bytes are 0; to a window whose short_ranks are 0
///                (tool::Features) or, for flushes, whose short_flushes are 0; to threads that no
///                call finds as current_thread (race detectors).

#include <atomic>
#include <cstdint>
#include <cstring>

#include "api/addresses.hpp"
#include "api/arguments.hpp"
#include "rma/access.hpp"
#include "rma/control.hpp"
#include "rma/locking.hpp"
#include "rma/transfer.hpp"

namespace heddle::api::short_ways {

using core::Thread;
using objects::Target;
using objects::Window;

/// Tries a short path, which returns whether it has done everything. Otherwise takes the long path.
template <auto way, class LongWay, class... Arguments>
[[gnu::always_inline]] inline int tried(LongWay long_way, Arguments... arguments) {
    if (way(arguments...)) [[likely]]
        return MPI_SUCCESS;
    return long_way();
}

/// The bound of counts. Negative numbers and those that could overflow are above it, as unsigned
/// numbers.
inline constexpr std::uint64_t most_elements = std::uint64_t{1} << 32;

[[gnu::always_inline]] inline Thread* thread_in_mpi() noexcept {
    Thread* thread = objects::current_thread;
    if (thread == nullptr || thread->process->life.load(relaxed) != Process::Life::initialized)
        [[unlikely]]
        return nullptr;
    return thread;
}

/// Returns the window, or nullptr. `bound` is the number of ranks for which the path is open.
template <std::int32_t Window::* bound = &Window::short_ranks>
[[gnu::always_inline]] inline Window* window_with(Thread& thread, MPI_Win win, int rank) noexcept {
    Window* window = thread.process->window(win);
    if (window == nullptr ||
        static_cast<std::uint32_t>(rank) >= static_cast<std::uint32_t>(window->*bound)) [[unlikely]]
        return nullptr;
    return window;
}

/// Finds the place of `bytes` of a target. Returns false if something is wrong with them, or there
/// are none.
[[gnu::always_inline]] inline bool find_place(const Window& window, const Target& target,
                                              MPI_Aint displacement, std::uint64_t bytes,
                                              std::byte*& place) noexcept {
    std::int64_t begin = 0;
    if (!rma::is_open(window, target) || bytes - 1 >= target.short_bytes ||
        __builtin_mul_overflow(displacement, target.unit, &begin) ||
        static_cast<std::uint64_t>(begin) > target.short_bytes - bytes) [[unlikely]]
        return false;
    place = target.memory + begin;
    return true;
}

enum class Direction : std::uint8_t { put, get };

template <Direction direction>
[[gnu::always_inline]] inline void count(Thread& thread, std::uint64_t bytes) noexcept {
    tool::counters::Windows& windows = thread.windows;
    (direction == Direction::put ? windows.window_puts : windows.window_gets).add();
    windows.window_mapped_bytes.add(bytes);
}

/// Moves many bytes. It is the last action of a call, so that calls that move a word save no
/// registers for it.
template <Direction direction>
[[gnu::noinline]] inline int move_many(Thread& thread, std::byte* to, const std::byte* from,
                                       std::uint64_t bytes) noexcept {
    std::memmove(to, from, bytes);
    count<direction>(thread, bytes);
    return MPI_SUCCESS;
}

/// Moves words by one instruction, so that no thread sees half of an aligned one.
template <Direction direction>
[[gnu::always_inline]] inline int move(Thread& thread, std::byte* to, const std::byte* from,
                                       std::uint64_t bytes) noexcept {
    if (bytes == 8) [[likely]]
        std::memcpy(to, from, 8);
    else if (bytes == 4)
        std::memcpy(to, from, 4);
    else if (bytes == 2)
        std::memcpy(to, from, 2);
    else if (bytes == 1)
        *to = *from;
    else
        return move_many<direction>(thread, to, from, bytes);
    count<direction>(thread, bytes);
    return MPI_SUCCESS;
}

template <Direction direction, class LongWay>
[[gnu::always_inline]] inline int transfer(LongWay long_way, std::byte* buffer, std::int64_t count,
                                           MPI_Datatype type, int rank, MPI_Aint displacement,
                                           std::int64_t target_count, MPI_Datatype target_type,
                                           MPI_Win win) {
    Thread* thread = thread_in_mpi();
    if (thread == nullptr) [[unlikely]]
        return long_way();
    if (type != target_type) [[unlikely]]
        return long_way();
    if (count != target_count || static_cast<std::uint64_t>(count) >= most_elements) [[unlikely]]
        return long_way();
    const std::uint64_t bytes =
        static_cast<std::uint64_t>(count) * thread->process->plain_types.of(type).bytes;
    Window* window = window_with(*thread, win, rank);
    std::byte* place = nullptr;
    if (window == nullptr || !can_be_memory(buffer) ||
        !find_place(*window, window->targets[rank], displacement, bytes, place)) [[unlikely]]
        return long_way();
    if constexpr (direction == Direction::put)
        return move<direction>(*thread, place, buffer, bytes);
    else
        return move<direction>(*thread, buffer, place, bytes);
}

template <class LongWay, class... Others>
[[gnu::always_inline]] inline int put(LongWay long_way, const void* origin, Others... others) {
    auto* buffer = static_cast<std::byte*>(const_cast<void*>(origin));  // only read
    return transfer<Direction::put>(long_way, buffer, others...);
}

template <class LongWay, class... Others>
[[gnu::always_inline]] inline int get(LongWay long_way, void* origin, Others... others) {
    return transfer<Direction::get>(long_way, static_cast<std::byte*>(origin), others...);
}

// --- one element, which the processor changes by one instruction ---

/// Finds an element of `bytes` bytes, and the lock of its target. The lock is nullptr if no
/// instruction may change the element.
[[gnu::always_inline]] inline rma::RowLock* find_word(Thread& thread, MPI_Win win, int rank,
                                                      MPI_Aint displacement, std::uint64_t bytes,
                                                      std::byte*& place) noexcept {
    const Window* window = window_with(thread, win, rank);
    if (window == nullptr) [[unlikely]]
        return nullptr;
    const Target& target = window->targets[rank];
    if (!target.mapped_by_all || !find_place(*window, target, displacement, bytes, place) ||
        (reinterpret_cast<std::uintptr_t>(place) & (bytes - 1)) != 0)
        return nullptr;
    return &rma::state_of(*window, rank).accumulates;
}

template <class Word>
[[gnu::always_inline]] inline Word loaded(const void* address) noexcept {
    Word word;
    std::memcpy(&word, address, sizeof word);
    return word;
}

/// Applies MPI_SUM, MPI_REPLACE or MPI_NO_OP, and returns the old value.
template <class Word>
[[gnu::always_inline]] inline Word fetch_and_apply(MPI_Op op, std::byte* there,
                                                   const void* origin) noexcept {
    const std::atomic_ref<Word> word(*reinterpret_cast<Word*>(there));
    if (op == MPI_SUM) [[likely]]
        return word.fetch_add(loaded<Word>(origin), acq_rel);
    if (op == MPI_REPLACE) return word.exchange(loaded<Word>(origin), acq_rel);
    return word.load(acquire);
}

/// Changes an element. `result` may be nullptr: the caller does not need the old value.
[[gnu::always_inline]] inline bool change(const void* origin, void* result, MPI_Datatype type,
                                          int rank, MPI_Aint displacement, MPI_Op op,
                                          MPI_Win win) noexcept {
    Thread* thread = thread_in_mpi();
    if (thread == nullptr) [[unlikely]]
        return false;
    const objects::PlainType plain = thread->process->plain_types.of(type);
    const bool known = op == MPI_SUM ? plain.adds : op == MPI_REPLACE || op == MPI_NO_OP;
    if (!known || (!is_memory(origin) && op != MPI_NO_OP)) [[unlikely]]
        return false;
    if (plain.word < sizeof(std::uint32_t)) return false;
    std::byte* there = nullptr;
    rma::RowLock* const lock = find_word(*thread, win, rank, displacement, plain.word, there);
    if (lock == nullptr || !lock->try_enter(thread->system_id)) [[unlikely]]
        return false;
    if (plain.word == sizeof(std::uint64_t)) {
        const auto before = fetch_and_apply<std::uint64_t>(op, there, origin);
        if (result != nullptr) std::memcpy(result, &before, sizeof before);
    } else {
        const auto before = fetch_and_apply<std::uint32_t>(op, there, origin);
        if (result != nullptr) std::memcpy(result, &before, sizeof before);
    }
    lock->leave(thread->system_id);
    thread->windows.window_accumulates.add();
    return true;
}

[[gnu::always_inline]] inline bool fetch_and_op(const void* origin, void* result, MPI_Datatype type,
                                                int rank, MPI_Aint displacement, MPI_Op op,
                                                MPI_Win win) noexcept {
    return is_memory(result) && change(origin, result, type, rank, displacement, op, win);
}

[[gnu::always_inline]] inline bool accumulate(const void* origin, std::int64_t count,
                                              MPI_Datatype type, int rank, MPI_Aint displacement,
                                              std::int64_t target_count, MPI_Datatype target_type,
                                              MPI_Op op, MPI_Win win) noexcept {
    return count == 1 && target_count == 1 && type == target_type && op != MPI_NO_OP &&
        change(origin, nullptr, type, rank, displacement, op, win);
}

template <class Word>
[[gnu::always_inline]] inline void swap_if_equal(std::byte* there, const void* origin,
                                                 const void* compare, void* result) noexcept {
    Word expected = loaded<Word>(compare);
    std::atomic_ref<Word>(*reinterpret_cast<Word*>(there))
        .compare_exchange_strong(expected, loaded<Word>(origin), acq_rel, acquire);
    std::memcpy(result, &expected, sizeof expected);
}

[[gnu::always_inline]] inline bool compare_and_swap(const void* origin, const void* compare,
                                                    void* result, MPI_Datatype type, int rank,
                                                    MPI_Aint displacement, MPI_Win win) noexcept {
    Thread* thread = thread_in_mpi();
    if (thread == nullptr) [[unlikely]]
        return false;
    const objects::PlainType plain = thread->process->plain_types.of(type);
    if (!plain.compares || !is_memory(origin) || !is_memory(compare) || !is_memory(result))
        [[unlikely]]
        return false;
    if (plain.word < sizeof(std::uint32_t)) return false;
    std::byte* there = nullptr;
    rma::RowLock* const lock = find_word(*thread, win, rank, displacement, plain.word, there);
    if (lock == nullptr || !lock->try_enter(thread->system_id)) [[unlikely]]
        return false;
    if (plain.word == sizeof(std::uint64_t))
        swap_if_equal<std::uint64_t>(there, origin, compare, result);
    else
        swap_if_equal<std::uint32_t>(there, origin, compare, result);
    lock->leave(thread->system_id);
    thread->windows.window_accumulates.add();
    return true;
}

// --- synchronisation ---

[[gnu::always_inline]] inline bool flush_local(int rank, MPI_Win win) noexcept {
    Thread* thread = thread_in_mpi();
    if (thread == nullptr) [[unlikely]]
        return false;
    const Window* window = window_with<&Window::short_flushes>(*thread, win, rank);
    return window != nullptr && rma::is_near_and_locked(*window, rank);
}

[[gnu::always_inline]] inline bool flush(int rank, MPI_Win win) noexcept {
    if (!flush_local(rank, win)) [[unlikely]]
        return false;
    std::atomic_thread_fence(seq_cst);
    return true;
}

}  // namespace heddle::api::short_ways

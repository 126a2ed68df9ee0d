// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Free objects of an arena that one thread keeps. The thread comes to the arena, and its lock,
/// only in batches.
///
/// Thread safety  one thread at a time. An object may be given to the list of another thread than
///                it was taken from.

#include <cstddef>
#include <utility>

#include "core/arena.hpp"

namespace heddle::core {

template <class T>
class FreeList {
public:
    /// Returns nullptr if memory has run out.
    T* take(Arena<T>& arena) noexcept {
        if (free_ == nullptr) [[unlikely]]
            refill(arena);
        T* object = free_;
        if (object == nullptr) [[unlikely]]
            return nullptr;
        free_ = object->next;
        --count_;
        return object;
    }
    void give(T& object, Arena<T>& arena) noexcept {
        object.next = free_;
        free_ = &object;
        if (++count_ > most) [[unlikely]]
            spill(arena);
    }
    /// Gives all objects back.
    void drain(Arena<T>& arena) noexcept {
        arena.give(std::exchange(free_, nullptr));
        count_ = 0;
    }

private:
    static constexpr std::size_t batch = 64;
    static constexpr std::size_t most = 4 * batch;

    [[gnu::noinline]] void refill(Arena<T>& arena) noexcept {
        free_ = arena.take(batch);
        for (const T* object = free_; object != nullptr; object = object->next) ++count_;
    }
    [[gnu::noinline]] void spill(Arena<T>& arena) noexcept {
        T* list = std::exchange(free_, nullptr);
        T* last = list;
        for (std::size_t given = 1; given < 2 * batch; ++given) last = last->next;
        free_ = std::exchange(last->next, nullptr);
        count_ -= 2 * batch;
        arena.give(list);
    }

    T* free_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace heddle::core

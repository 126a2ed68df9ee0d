// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Where objects behind MPI handles live: memory that is reused but never unmapped, so that a stale
/// or forged handle can be recognised without touching memory that is not there.
///
/// A handle is the object's address. contains() answers whether an address can be one of this arena;
/// whether the object there is alive, the object itself says (Object::kind).
///
/// Thread safety  every call from any thread. take() and give() take a lock: callers on the data
///                path keep a list of their own (core/thread.hpp) and come here in batches.
/// Errors         take() answers nullptr when the arena is full (`most` objects).

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "platform/memory.hpp"
#include "sync/mutex.hpp"

namespace heddle::core {

/// T has a member `T* next` for the list of free objects and a default constructor.
template <class T>
class Arena {
public:
    explicit Arena(std::size_t most)
        : memory_(platform::reserve(most * sizeof(T))),
          first_(static_cast<T*>(memory_.address())),
          most_(memory_ ? most : 0) {}

    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena() {
        if constexpr (!std::is_trivially_destructible_v<T>) std::destroy_n(first_, used_.load(acquire));
    }

    bool contains(const void* address) const noexcept {
        const auto offset =
            reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(first_);
        return offset < used_.load(relaxed) * sizeof(T) && offset % sizeof(T) == 0;
    }

    /// Numbers for objects, and back: where an object is, it stays.
    std::size_t number_of(const T* object) const noexcept {
        return static_cast<std::size_t>(object - first_);
    }
    /// nullptr if there is none with that number.
    T* numbered(std::size_t number) const noexcept {
        return number < used_.load(relaxed) ? first_ + number : nullptr;
    }

    /// A list of up to `count` free or new objects, linked by next; nullptr if there are none.
    T* take(std::size_t count = 1) noexcept {
        mutex_.lock();
        T* list = nullptr;
        for (; count > 0; --count) {
            T* object = pop();
            if (object == nullptr) break;
            object->next = list;
            list = object;
        }
        mutex_.unlock();
        return list;
    }

    /// Takes back a list of objects linked by next.
    void give(T* list) noexcept {
        mutex_.lock();
        while (list != nullptr) {
            T* next = list->next;
            list->next = free_;
            free_ = list;
            list = next;
        }
        mutex_.unlock();
    }

private:
    T* pop() noexcept {
        if (free_ != nullptr) {
            T* object = free_;
            free_ = object->next;
            return object;
        }
        const std::size_t used = used_.load(relaxed);
        if (used == most_) return nullptr;
        T* object = new (first_ + used) T;
        used_.store(used + 1, release);
        return object;
    }

    platform::Mapping memory_;
    T* first_;
    std::size_t most_;
    std::atomic<std::size_t> used_{0};
    sync::Mutex mutex_;
    T* free_ = nullptr;
};

}  // namespace heddle::core

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Memory for the objects behind MPI handles. It is reused and stays mapped while the process is
/// open. So a stale or forged handle can be recognised without touching memory that is not there.
///
/// A handle is the object's address. contains() returns whether an address can be one of this
/// arena. The object itself says whether it is alive (Object::kind).
///
/// Growth         in chunks, each twice the one before. So the address space follows the use, and a
///                directory of few entries is enough. A chunk becomes memory in steps. Objects
///                never move. If a chunk no longer fits into the address space, a smaller one may.
/// One chunk      is enough for an arena whose objects data paths look up. in_first() is then all
///                of contains(): one comparison.
/// Numbers        say where an object is, as long as its memory stays mapped. They count objects,
///                or they are the lower halves of addresses. Lower halves differ from each other,
///                and from constants (`first_number`).
/// Thread safety  every call from any thread, except trim(): meanwhile no other thread uses an
///                object of the arena or asks for one by address. take() and give() take a lock.
///                Callers on the data path keep lists of their own (core/thread.hpp) and exchange
///                batches with the arena.
/// Errors         take() returns nullptr if there is no memory, or if the arena is full (`most`
///                objects).

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

#include "platform/memory.hpp"
#include "sync/mutex.hpp"

namespace heddle::core {

inline constexpr std::size_t small_chunk = std::size_t{64} << 10;
inline constexpr std::size_t large_chunk = std::size_t{1} << 20;
inline constexpr std::size_t whole = ~std::size_t{0};

enum class Numbers : bool { counted, lower_halves };
inline constexpr std::uint32_t first_number = 4096;  ///< predefined handles are smaller

inline std::uint32_t lower_half(const void* address) noexcept {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(address));
}

/// T has a member `T* next` for the list of free objects and a default constructor.
template <class T>
class Arena {
public:
    /// `first_chunk`: bytes of the first chunk. `whole`: everything fits into it.
    explicit Arena(std::size_t most, std::size_t first_chunk = small_chunk,
                   Numbers numbers = Numbers::counted)
        : most_(most),
          first_count_(std::clamp<std::size_t>(first_chunk / sizeof(T), 1, most)),
          numbers_(numbers) {
        if (numbers == Numbers::counted) grow();
    }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena() {
        for (std::size_t i = 0; i < listed_.load(acquire); ++i) chunks_[i].destroy();
    }

    bool contains(const void* address) const noexcept {
        return in_first(address) || in_later(address);
    }
    /// Return the two parts of contains().
    [[gnu::always_inline]] bool in_first(const void* address) const noexcept {
        return chunks_[0].holds(address);
    }
    bool in_later(const void* address) const noexcept {
        for (std::size_t i = listed_.load(acquire); i-- > 1;)  // A1; the last is the largest
            if (chunks_[i].holds(address)) [[unlikely]]
                return true;
        return false;
    }

    /// Called before the first take(). No object's address then has the lower half of this one's.
    void leave_out(const void* address) noexcept { left_out_ = lower_half(address); }

    /// Returns the number of an object; numbered() returns the object.
    std::uint32_t number_of(const T* object) const noexcept {
        if (numbers_ == Numbers::lower_halves) return lower_half(object);
        const Chunk& chunk = chunks_[chunk_of(object)];
        return first_number +
            static_cast<std::uint32_t>(chunk.begin +
                                       static_cast<std::size_t>(object - chunk.first()));
    }
    /// Returns nullptr if no object has that number. Without trim(), counted numbers have no gaps.
    T* numbered(std::uint32_t number) const noexcept {
        if (numbers_ == Numbers::lower_halves) return with_lower_half(number);
        return number < first_number ? nullptr : at_place(number - first_number);
    }
    /// Returns the object at a place, free or not. Places count from 0, to visit all objects.
    /// Returns nullptr if there is no object at that place; without trim() there is none behind it
    /// either.
    T* at_place(std::size_t place) const noexcept {
        for (std::size_t i = listed_.load(acquire); i-- > 0;)  // A1
            if (place >= chunks_[i].begin) return chunks_[i].at(place - chunks_[i].begin);
        return nullptr;
    }

    /// Returns a list of up to `count` free or new objects, linked by next; nullptr if there are
    /// none.
    T* take(std::size_t count = 1) noexcept {
        std::lock_guard guard(mutex_);
        T* list = nullptr;
        for (; count > 0; --count) {
            T* object = pop();
            if (object == nullptr) break;
            object->next = list;
            list = object;
        }
        return list;
    }

    /// Takes back a list of objects linked by next.
    void give(T* list) noexcept {
        std::lock_guard guard(mutex_);
        while (list != nullptr) {
            T* next = list->next;
            put(*list);
            list = next;
        }
    }

    /// Gives back the memory of chunks of which no object is taken.
    void trim() noexcept {
        std::lock_guard guard(mutex_);
        std::array<std::size_t, most_chunks> free{};
        for (const T* object = free_; object != nullptr; object = object->next)
            ++free[chunk_of(object)];
        for (T* list = std::exchange(free_, nullptr); list != nullptr;) {
            T* next = list->next;
            const std::size_t chunk = chunk_of(list);
            if (free[chunk] != chunks_[chunk].used()) put(*list);
            list = next;
        }
        std::size_t listed = listed_.load(relaxed);
        for (std::size_t i = 0; i < listed; ++i)
            if (free[i] == chunks_[i].used()) chunks_[i].empty();
        for (; listed > 1 && chunks_[listed - 1].used() == 0; --listed) chunks_[listed - 1].close();
        listed_.store(listed, release);
        filling_ = 0;
    }

    /// Returns the bytes of reserved address space.
    std::size_t reserved() const noexcept {
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < listed_.load(acquire); ++i) bytes += chunks_[i].memory.bytes();
        return bytes;
    }

private:
    static constexpr std::size_t most_chunks = 32;

    struct Chunk {
        platform::Mapping memory;
        std::atomic<std::size_t> used_bytes{0};  ///< of objects that have been made
        std::size_t begin = 0;                   ///< number of the first object
        std::size_t count = 0;                   ///< objects that have addresses
        std::size_t open_bytes = 0;              ///< bytes that are memory

        T* first() const noexcept { return static_cast<T*>(memory.address()); }
        std::size_t used() const noexcept { return used_bytes.load(relaxed) / sizeof(T); }
        [[gnu::always_inline]] bool holds(const void* address) const noexcept {
            const auto offset = reinterpret_cast<std::uintptr_t>(address) -
                reinterpret_cast<std::uintptr_t>(memory.address());
            return offset < used_bytes.load(relaxed) && offset % sizeof(T) == 0;
        }
        T* at(std::size_t index) const noexcept {
            const std::size_t made = used_bytes.load(acquire) / sizeof(T);  // A2: pairs with R2
            return index < made ? first() + index : nullptr;
        }
        bool full() const noexcept { return used() == count; }
        /// Lower half of the first address. The last address's half is not below it.
        std::uint32_t first_half() const noexcept { return lower_half(memory.address()); }
        std::uint32_t last_half() const noexcept {
            return first_half() + static_cast<std::uint32_t>(memory.bytes() - 1);
        }
        T* make() noexcept {
            const std::size_t index = used();
            if (!open((index + 1) * sizeof(T))) return nullptr;
            T* object = new (first() + index) T;
            used_bytes.store((index + 1) * sizeof(T), release);  // R2
            return object;
        }
        bool open(std::size_t bytes) noexcept {
            if (bytes <= open_bytes) return true;
            const std::size_t more = std::max(small_chunk, open_bytes / 4);
            const std::size_t wanted = std::min(open_bytes + more, memory.bytes());
            if (!memory.open(wanted)) return false;
            open_bytes = wanted;
            return true;
        }
        void destroy() noexcept {
            if constexpr (!std::is_trivially_destructible_v<T>) std::destroy_n(first(), used());
        }
        /// Destroys the objects and drops the pages.
        void empty() noexcept {
            if (used() == 0) return;
            destroy();
            used_bytes.store(0, relaxed);
            memory.drop_pages();
        }
        void close() noexcept {
            memory = platform::Mapping();
            open_bytes = 0;
        }
    };

    T* with_lower_half(std::uint32_t half) const noexcept {
        for (std::size_t i = listed_.load(acquire); i-- > 0;) {  // A1
            auto* address = static_cast<std::byte*>(chunks_[i].memory.address()) +
                (half - chunks_[i].first_half());
            if (chunks_[i].holds(address)) return reinterpret_cast<T*>(address);
        }
        return nullptr;
    }

    /// Returns the chunk of an object of this arena.
    std::size_t chunk_of(const T* object) const noexcept {
        std::size_t i = 0;
        while (!chunks_[i].holds(object)) ++i;
        return i;
    }
    void put(T& object) noexcept {
        object.next = free_;
        free_ = &object;
    }
    T* pop() noexcept {
        if (free_ != nullptr) {
            T* object = free_;
            free_ = object->next;
            return object;
        }
        for (;; ++filling_) {
            if (filling_ == listed_.load(relaxed) && !grow()) return nullptr;
            if (!chunks_[filling_].full()) return chunks_[filling_].make();
        }
    }
    /// Adds a chunk at the end of the directory.
    bool grow() noexcept {
        const std::size_t listed = listed_.load(relaxed);
        if (listed == most_chunks) return false;
        Chunk& chunk = chunks_[listed];
        const Chunk* before = listed == 0 ? nullptr : &chunks_[listed - 1];
        chunk.begin = before == nullptr ? 0 : before->begin + before->count;
        chunk.count =
            std::min(before == nullptr ? first_count_ : 2 * before->count, most_ - chunk.begin);
        if (chunk.count == 0) return false;
        while (!(chunk.memory = reserve(chunk.count * sizeof(T)))) {
            if (chunk.count <= first_count_) return false;
            chunk.count /= 2;
        }
        if (!chunk.open(sizeof(T))) {
            chunk.close();
            return false;
        }
        listed_.store(listed + 1, release);  // R1: publishes the chunk; pairs with A1
        return true;
    }

    /// Reserves addresses for a chunk. Those with wrong lower halves are held until the kernel has
    /// given others.
    platform::Mapping reserve(std::size_t bytes) const noexcept {
        constexpr std::size_t tries = 8;
        std::array<platform::Mapping, tries> held;
        for (auto& mapping : held) {
            mapping = platform::reserve_addresses(bytes);
            if (!mapping || numbers_ == Numbers::counted || has_halves_of_its_own(mapping))
                return std::move(mapping);
        }
        return {};
    }
    bool has_halves_of_its_own(const platform::Mapping& mapping) const noexcept {
        const std::uint32_t first = lower_half(mapping.address());
        const std::uint64_t end = std::uint64_t{first} + mapping.bytes();
        if (first < first_number || end > std::uint64_t{1} << 32) return false;
        if (first <= left_out_ && left_out_ < end) return false;
        for (std::size_t i = 0; i < listed_.load(relaxed); ++i)
            if (first <= chunks_[i].last_half() && chunks_[i].first_half() < end) return false;
        return true;
    }

    std::array<Chunk, most_chunks> chunks_;
    std::atomic<std::size_t> listed_{0};
    const std::size_t most_, first_count_;
    const Numbers numbers_;
    std::uint32_t left_out_ = 0;
    sync::Mutex mutex_;
    std::size_t filling_ = 0;  ///< the first chunk that may have room
    T* free_ = nullptr;
};

}  // namespace heddle::core

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// An array that grows and shrinks at its end by one element, without ever moving many: pages
/// behind a directory. The first element lies here. So small arrays take no memory, and one element
/// is always there.
///
/// Elements are bytes: they begin as zeroes, and while the first page grows they are copied.
/// Errors         grow() returns false if there is no memory, and has changed nothing.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace heddle::match {

template <class T>
class Pages {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Pages() = default;
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    ~Pages() {
        while (room_ > page) drop_page();
        if (only_ != &first_) std::free(only_);
        if (pages_ != &only_) std::free(pages_);
    }

    T& operator[](std::uint32_t i) noexcept { return pages_[i / page][i % page]; }
    const T& operator[](std::uint32_t i) const noexcept { return pages_[i / page][i % page]; }

    /// Makes room for element `count`, which begins as zeroes.
    bool grow(std::uint32_t count) noexcept {
        if (count < room_) return true;
        return room_ < page ? enlarge_first() : add_page();
    }
    /// Gives up elements from `count` on, which are zeroes.
    void shrink(std::uint32_t count) noexcept {
        if (room_ > page && count <= room_ - page) drop_page();
    }
    /// Returns the bytes besides this object.
    std::size_t memory() const noexcept {
        return (only_ == &first_ ? 0 : room_ * sizeof(T)) +
            (pages_ == &only_ ? 0 : listed_ * sizeof(T*));
    }

private:
    static constexpr std::uint32_t page = 4096 / sizeof(T);
    static constexpr std::uint32_t few = 8;

    static T* zeroes(std::uint32_t count) noexcept {
        void* memory = std::aligned_alloc(64, count * sizeof(T));
        return memory == nullptr ? nullptr
                                 : static_cast<T*>(std::memset(memory, 0, count * sizeof(T)));
    }
    bool enlarge_first() noexcept {
        const std::uint32_t room = room_ < few ? few : page;
        T* larger = zeroes(room);
        if (larger == nullptr) return false;
        std::copy_n(only_, room_, larger);
        if (only_ != &first_) std::free(only_);
        pages_[0] = only_ = larger;
        room_ = room;
        return true;
    }
    bool add_page() noexcept {
        if (room_ / page == listed_ && !list(2 * listed_)) return false;
        T* added = zeroes(page);
        if (added == nullptr) return false;
        pages_[room_ / page] = added;
        room_ += page;
        return true;
    }
    void drop_page() noexcept {
        room_ -= page;
        std::free(pages_[room_ / page]);
        // Less memory for the directory is welcome, but not needed.
        if (listed_ > few && room_ / page < listed_ / 4) static_cast<void>(list(listed_ / 2));
    }
    bool list(std::uint32_t pages) noexcept {
        pages = std::max(pages, few);
        T** before = pages_ == &only_ ? nullptr : pages_;
        auto** longer = static_cast<T**>(std::realloc(before, pages * sizeof(T*)));
        if (longer == nullptr) return false;
        if (pages_ == &only_) longer[0] = only_;
        pages_ = longer;
        listed_ = pages;
        return true;
    }

    T** pages_ = &only_;
    T* only_ = &first_;  ///< the first page
    std::uint32_t room_ = 1;
    std::uint32_t listed_ = 1;  ///< pages that the directory has room for
    T first_{};
};

}  // namespace heddle::match

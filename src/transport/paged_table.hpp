// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A table by number. A page of it comes to be with the first entry on it: a process talks to few
/// of many others.
///
/// Memory         8 bytes for each page of entries for which no thread has asked.
/// Thread safety  find() from any thread beside need(); need() from one thread at a time. The user
///                guards what an entry holds.

#include <atomic>
#include <cstddef>
#include <memory>

#include "sync/orders.hpp"

namespace heddle::transport {

template <class T>
class PagedTable {
public:
    static constexpr std::size_t page_entries = 64;

    explicit PagedTable(std::size_t entries)
        : count_((entries + page_entries - 1) / page_entries),
          pages_(std::make_unique<std::atomic<T*>[]>(count_)) {}
    ~PagedTable() {
        for (std::size_t i = 0; i < count_; ++i) delete[] pages_[i].load(relaxed);
    }
    PagedTable(const PagedTable&) = delete;
    PagedTable& operator=(const PagedTable&) = delete;

    /// Returns nullptr if its page is not there.
    T* find(std::size_t number) const noexcept {
        if (number / page_entries >= count_) return nullptr;
        T* const page = pages_[number / page_entries].load(acquire);  // A1: pairs with R1
        return page == nullptr ? nullptr : page + number % page_entries;
    }
    /// Returns the entry, and makes its page if needed. `number` must be below the entries. Throws
    /// std::bad_alloc.
    T& need(std::size_t number) {
        std::atomic<T*>& page = pages_[number / page_entries];
        if (page.load(relaxed) == nullptr) page.store(new T[page_entries](), release);  // R1
        return page.load(relaxed)[number % page_entries];
    }

private:
    const std::size_t count_;
    const std::unique_ptr<std::atomic<T*>[]> pages_;
};

}  // namespace heddle::transport

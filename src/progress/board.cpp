// SPDX-License-Identifier: BSD-3-Clause
#include "progress/board.hpp"

#include <cstdio>
#include <ctime>

#include "sync/orders.hpp"

namespace heddle::progress {

launch::Blocked* Notice::claim(core::Thread& thread) noexcept {
    if (thread.page == nullptr) return nullptr;
    for (launch::Blocked& entry : thread.page->blocked) {
        std::uint32_t free = 0;
        if (entry.owner.load(relaxed) == 0 &&
            entry.owner.compare_exchange_strong(free, thread.system_id, acquire, relaxed))
            return &entry;
    }
    return nullptr;
}

void Notice::write(const char* call, const char* arguments) noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    entry_->version.fetch_add(1, acq_rel);  // odd: being written
    entry_->since_ns.store(now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec, relaxed);
    std::snprintf(entry_->text, sizeof entry_->text, "%s%s", call, arguments);
    entry_->version.fetch_add(1, release);
}

Notice::~Notice() {
    if (entry_ != nullptr) entry_->owner.store(0, release);
}

}  // namespace heddle::progress

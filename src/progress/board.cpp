// SPDX-License-Identifier: BSD-3-Clause
#include "progress/board.hpp"

#include "platform/callers.hpp"
#include "sync/orders.hpp"

namespace heddle::progress {

bool Notice::claim() noexcept {
    for (launch::Blocked& entry : thread_.page->blocked) {
        std::uint32_t free = 0;
        if (entry.owner.load(relaxed) != 0 ||
            !entry.owner.compare_exchange_strong(free, thread_.system_id, acquire, relaxed))
            continue;
        entry_ = &entry;
        return true;
    }
    thread_.page->not_listed.fetch_add(1, relaxed);
    counted_ = true;
    return false;
}

void Notice::publish(launch::WaitsFor& what) noexcept {
    what.since_ns = since_.count();
    what.thread = thread_.number;
    what.called_from = platform::call_site();
    launch::put_text(what.call, thread_.call);
    entry_->version.fetch_or(1, acq_rel);  // odd, as it is after each use
    entry_->what = what;
    entry_->version.fetch_add(1, release);  // even
}

void Notice::take_back() noexcept {
    if (counted_) thread_.page->not_listed.fetch_sub(1, relaxed);
    if (entry_ == nullptr) return;
    entry_->version.fetch_add(1, acq_rel);  // odd
    entry_->owner.store(0, release);
}

}  // namespace heddle::progress

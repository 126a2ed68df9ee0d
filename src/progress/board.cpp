// SPDX-License-Identifier: BSD-3-Clause
#include "progress/board.hpp"

#include "platform/callers.hpp"
#include "sync/orders.hpp"

namespace heddle::progress {
namespace {

/// Claims a free entry. Returns nullptr if there is none.
node::Blocked* claim_entry(const core::Thread& thread) noexcept {
    for (node::Blocked& entry : thread.page->blocked) {
        std::uint32_t free = 0;
        if (entry.owner.load(relaxed) == 0 &&
            entry.owner.compare_exchange_strong(free, thread.system_id, acquire, relaxed))
            return &entry;
    }
    return nullptr;
}

void give_back(node::Blocked& entry) noexcept {
    // Odd before the next owner, which has acquired the entry, writes.
    entry.version.store(entry.version.load(relaxed) + 1, relaxed);
    entry.owner.store(0, release);
}

}  // namespace

bool Notice::claim() noexcept {
    entry_ = claim_entry(thread_);
    if (entry_ != nullptr) return true;
    thread_.page->not_listed.fetch_add(1, relaxed);
    counted_ = true;
    return false;
}

void Notice::publish(node::WaitsFor& what) noexcept {
    what.since_ns = since_.count();
    what.thread = thread_.number;
    what.called_from = platform::call_site();
    node::put_text(what.call, thread_.call);
    entry_->version.fetch_or(1, acq_rel);  // odd, as it is after each use
    entry_->what = what;
    entry_->version.fetch_add(1, release);  // even
}

void Notice::take_back() noexcept {
    if (counted_) thread_.page->not_listed.fetch_sub(1, relaxed);
    if (entry_ != nullptr) give_back(*entry_);
}

InKernel::InKernel(core::Thread& thread, std::chrono::nanoseconds since,
                   const node::AwaitedEvent& event) noexcept {
    if (thread.page == nullptr || thread.of_library) return;
    entry_ = claim_entry(thread);
    if (entry_ == nullptr) return;  // one of many threads; the others are reported
    // Odd, as it is after each use; it is even before the first one. No other thread writes to it.
    if (entry_->version.load(relaxed) % 2 == 0) entry_->version.fetch_or(1, acq_rel);
    node::WaitsFor& what = entry_->what;
    what.since_ns = since.count();
    what.called_from = 0;
    what.events = 1;
    what.thread = thread.number;
    what.need = node::Need::all;
    node::put_text(what.call, thread.call);
    what.listed[0] = event;
    entry_->version.store(entry_->version.load(relaxed) + 1, release);
}

InKernel::~InKernel() {
    if (entry_ != nullptr) give_back(*entry_);
}

}  // namespace heddle::progress

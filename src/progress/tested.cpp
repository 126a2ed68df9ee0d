// SPDX-License-Identifier: BSD-3-Clause
#include "progress/tested.hpp"

#include <new>

#include "platform/callers.hpp"
#include "sync/orders.hpp"

namespace heddle::progress {

bool is_note_due(core::Thread& thread, std::chrono::nanoseconds now) noexcept {
    if (thread.attached == nullptr) return false;
    if (thread.tests_noted.count() == 0) thread.tests_noted = now;
    return now - thread.tests_noted >= notice_after;
}

void publish_tested(core::Thread& thread, node::WaitsFor& what,
                    std::chrono::nanoseconds now) noexcept {
    thread.tests_noted = now;
    what.since_ns = now.count();
    what.thread = thread.number;
    what.called_from = platform::call_site();
    node::put_text(what.call, thread.call);
    if (thread.tested == nullptr) thread.tested.reset(new (std::nothrow) node::Tested{});
    if (thread.tested == nullptr) return;
    node::Tested& tested = *thread.tested;
    tested.version.fetch_or(1, acq_rel);  // odd; no other thread writes to it
    tested.tests = thread.tests;
    tested.what = what;
    tested.version.fetch_add(1, release);
    const auto address = reinterpret_cast<std::uintptr_t>(&tested);
    if (thread.attached->tested.load(relaxed) != address)
        thread.attached->tested.store(address, release);
}

}  // namespace heddle::progress

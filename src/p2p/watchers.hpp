// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Threads that wait for a message to be probed. Each one is only woken by messages that its
/// pattern accepts.
///
/// Thread safety  any thread. A thread that keeps a message tells watchers with the lock of its
///                instance held. A watching thread searches the instances, locked, after it was
///                added. So one of the two sees the other.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "match/message.hpp"
#include "p2p/progress_call.hpp"
#include "sync/orders.hpp"

namespace heddle::p2p {

class Watchers {
public:
    /// Signals `slot` whenever a message that the pattern accepts is kept as unexpected.
    void add(const match::Pattern& pattern, sync::Slot& slot) {
        const std::lock_guard guard(lock_);
        all_.push_back({pattern, &slot});
        count_.store(static_cast<std::uint32_t>(all_.size()), relaxed);
    }
    void remove(const sync::Slot& slot) noexcept {
        const std::lock_guard guard(lock_);
        std::erase_if(all_, [&](const Watcher& watcher) { return watcher.slot == &slot; });
        count_.store(static_cast<std::uint32_t>(all_.size()), relaxed);
    }
    /// Tells that a message with this envelope has been kept.
    void tell(ProgressCall& call, const match::Envelope& envelope) {
        tell_if(call,
                [&](const Watcher& watcher) { return match::accepts(watcher.pattern, envelope); });
    }
    /// Tells that any message may have been kept.
    void tell_all(ProgressCall& call) {
        tell_if(call, [](const Watcher&) { return true; });
    }

private:
    struct Watcher {
        match::Pattern pattern;
        sync::Slot* slot;
    };
    template <class Concerns>
    void tell_if(ProgressCall& call, Concerns&& concerns) {
        if (count_.load(relaxed) == 0) [[likely]]
            return;
        const std::lock_guard guard(lock_);
        for (const Watcher& watcher : all_)
            if (concerns(watcher)) call.wake(*watcher.slot);
    }

    std::atomic<std::uint32_t> count_{0};
    std::mutex lock_;
    std::vector<Watcher> all_;
};

}  // namespace heddle::p2p

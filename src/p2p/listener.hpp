// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Something to be done when a request completes, by the thread that completes it, in place of
/// waking a thread that waits: several operations that make up one (p2p/join.hpp), a message whose
/// buffer becomes free (p2p/buffered.hpp).
///
/// A listener stands where a waiting thread's slot stands (Request::waiter), told apart by the lowest
/// bit of the address, so that a request without either costs what it cost before.
///
/// Where nothing but the listener is ever to hear of a receive, it stands there from the beginning
/// (Inbound::waiter), which is cheaper than listen().
///
/// Contract       completed() is called once, by listen() itself if the request was complete before.
///                Locks of instances may be held: it takes leaf locks only, starts no operation,
///                completes others through `call`. What needs more is put off (ProgressCall::put_off()).
///                The request is the listener's to free.
/// Thread safety  the slot's place is claimed by compare-and-swap. A completer that comes late, after
///                the request was freed and used again (core/request.hpp), may claim a listener that
///                is not its own: it sees that the request is not complete, and puts it back the way
///                listen() does.

#include <cstdint>
#include <span>

#include "core/request.hpp"
#include "p2p/progress_call.hpp"

namespace heddle::p2p {

class Listener {
public:
    virtual void completed(ProgressCall& call, core::Request& request) noexcept = 0;

    static bool is(const sync::Slot* waiter) noexcept {
        return (reinterpret_cast<std::uintptr_t>(waiter) & 1) != 0;
    }
    static Listener& from(sync::Slot* waiter) noexcept {
        return *reinterpret_cast<Listener*>(reinterpret_cast<std::uintptr_t>(waiter) - 1);
    }
    sync::Slot* as_waiter() noexcept {
        return reinterpret_cast<sync::Slot*>(reinterpret_cast<std::uintptr_t>(this) + 1);
    }

protected:
    ~Listener() = default;
};

/// From now on `listener` hears of the request, which no thread waits for and no handle names.
void listen(ProgressCall& call, core::Request& request, Listener& listener) noexcept;
/// The same for several, at the price of one: it hears of each of them once.
void listen(ProgressCall& call, std::span<core::Request* const> requests,
            Listener& listener) noexcept;

}  // namespace heddle::p2p

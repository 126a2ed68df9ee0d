// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// An action of the thread that completes a request, instead of waking a thread that waits. Several
/// operations make up one (p2p/requests/join.hpp), or the buffer of a message becomes free
/// (p2p/buffered.hpp).
///
/// A listener takes the place of a waiting thread's slot (Request::waiter). The lowest bit of the
/// address tells them apart. So a request without either costs what it cost before.
///
/// If only the listener ever hears of a receive, it is there from the beginning (Inbound::waiter).
/// That is cheaper than listen().
///
/// Contract       completed() is called once, by listen() itself if the request was complete
///                before. Locks of instances may be held: it takes leaf locks only, starts no
///                operation, completes others through `call`. Other work is put off
///                (ProgressCall::put_off()). The listener must free the request.
/// Thread safety  the slot's place is claimed by compare-and-swap. A completer may be late: the
///                request was freed and used again (core/request.hpp). It may then claim a listener
///                that is not its own. It sees that the request is not complete, and puts the
///                listener back as listen() does.

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

/// Has `listener` hear of the request, which no thread waits for and no handle names.
void listen(ProgressCall& call, core::Request& request, Listener& listener) noexcept;
/// Does the same for several requests, at the price of one. The listener hears of each of them
/// once.
void listen(ProgressCall& call, std::span<core::Request* const> requests,
            Listener& listener) noexcept;

}  // namespace heddle::p2p

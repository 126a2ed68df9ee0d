// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/requests/listener.hpp"

namespace heddle::p2p {
namespace {

/// Takes the listener out of the request if it is still there. Returns true if it must be told.
bool claim(core::Request& request, sync::Slot* waiter) noexcept {
    for (;;) {
        sync::Slot* expected = waiter;
        // A3: pairs with R3; the listener is complete as an object.
        if (!request.waiter.compare_exchange_strong(expected, nullptr, acq_rel, relaxed))
            return false;
        if (request.completed()) return true;
        request.waiter.store(waiter, release);  // R3
        sync::ProcessFence::heavy();            // F2: pairs with F1 in ProgressCall::complete()
        if (!request.completed()) return false;
    }
}

}  // namespace

void ProgressCall::tell(core::Request& request, sync::Slot* waiter) noexcept {
    if (!Listener::is(waiter)) return wake(*waiter);
    if (claim(request, waiter)) Listener::from(waiter).completed(*this, request);
}

void listen(ProgressCall& call, core::Request& request, Listener& listener) noexcept {
    core::Request* const one[] = {&request};
    listen(call, one, listener);
}

void listen(ProgressCall& call, std::span<core::Request* const> requests,
            Listener& listener) noexcept {
    sync::Slot* waiter = listener.as_waiter();
    for (core::Request* request : requests) request->waiter.store(waiter, release);  // R3
    sync::ProcessFence::heavy();  // F2: pairs with F1 in ProgressCall::complete()
    for (core::Request* request : requests)
        if (request->completed() && claim(*request, waiter)) listener.completed(call, *request);
}

}  // namespace heddle::p2p

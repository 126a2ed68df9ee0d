// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The requests of a process: taken, claimed, and given back. One of the threads that complete
/// copies of a handle claims them.
///
/// Thread safety  every function from any thread, with that thread's own Thread.

#include "core/request_type.hpp"
#include "core/thread.hpp"
#include "sync/claims.hpp"

namespace heddle::p2p {

class Requests {
public:
    explicit Requests(core::Arena<core::Request>& arena);

    /// Returns nullptr if memory has run out. `waiter` hears of the completion (listener.hpp).
    [[gnu::always_inline]] core::Request* take(core::Thread& thread,
                                               sync::Slot* waiter = nullptr) noexcept {
        core::Request* request = thread.requests.take(arena_);
        if (request == nullptr) [[unlikely]]
            return nullptr;
        request->done.store(false, relaxed);
        // R3 of listener.cpp, after `done`: a completer that is late finds the request not
        // complete.
        request->waiter.store(waiter, release);
        sync::Claims::mark(thread.claims, request->claimable);
        return request;
    }
    void free(core::Thread& thread, core::Request& request) noexcept {
        if (request.immortal) return;
        if (request.laid_out) [[unlikely]]
            drop_layout(thread, request);
        request.kind.store(core::Kind::none, relaxed);
        thread.requests.give(request, arena_);
    }
    /// Frees a complete request of any kind.
    void free_completed(core::Thread& thread, core::Request& request) noexcept;
    /// Returns true for one of the threads that complete or free copies of the same handle.
    [[nodiscard, gnu::always_inline]] bool claim(core::Thread& thread,
                                                 core::Request& request) noexcept {
        return claims_.claim(thread.claims, request.claimable);
    }
    sync::Claims& claims() noexcept { return claims_; }

    /// Returns the request of a send that is over at once. It holds nothing.
    core::Request& completed_send() noexcept { return completed_send_; }
    /// Returns whether there is a request at that address, free or in use.
    bool contains(const void* handle) const noexcept {
        return is_usual(handle) || arena_.in_later(handle);
    }
    /// Returns the same, without requests that only exist while there are very many.
    bool is_usual(const void* handle) const noexcept {
        return arena_.in_first(handle) || handle == &completed_send_;
    }
    /// Returns requests by their places, until it returns nullptr.
    core::Request* at_place(std::size_t place) noexcept { return arena_.at_place(place); }
    std::size_t number_of(const core::Request& request) const noexcept {
        return arena_.number_of(&request);
    }

private:
    static void drop_layout(core::Thread& thread, core::Request& request) noexcept;

    core::Arena<core::Request>& arena_;
    sync::Claims claims_;
    core::Request completed_send_;
};

}  // namespace heddle::p2p

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What a thread that makes progress gathers while it holds a lock, to do once it has let go of it:
/// waking threads, copies that take long, and work that starts operations of its own.

#include <array>
#include <cstdint>
#include <vector>

#include "core/request.hpp"
#include "core/thread.hpp"
#include "sync/asymmetric_fence.hpp"

namespace heddle::instance {
struct Inlet;
class Instance;
}  // namespace heddle::instance

namespace heddle::p2p {

struct Protocol;

/// A matched message whose payload is still with its sender, or on its way through a ring of payload.
struct Pull {
    core::Request* receive;
    std::int32_t process;
    std::uint8_t instance;
    std::uint64_t sender;
    std::uint64_t address;
    std::uint64_t length;
    const Protocol* protocol = nullptr;  ///< by which the payload comes (p2p/protocols/)
    bool synchronous = false;            ///< streamed: the sender waits for an answer in any case
    std::uint8_t manifest = 0;           ///< streamed
    std::uint64_t key = 0;               ///< readable: the memory may be read with it
    std::uint64_t from = 0;              ///< so many bytes are here already
};

/// A copy that the receiver of a message has offered to share.
struct Share {
    std::int32_t process;
    std::uint8_t instance;
    std::uint64_t sender;
    std::uint64_t number;
};

/// A piece of a shared copy that the sender could not write.
struct Undone {
    std::int32_t process;
    std::uint8_t instance;
    std::uint64_t sender;
    std::uint64_t number;
    std::uint64_t from;
};

/// A ring in which there is something.
struct Ready {
    instance::Instance* instance = nullptr;
    instance::Inlet* inlet = nullptr;
};

/// Room for one more, so that adding it cannot fail.
template <class T>
void make_room(std::vector<T>& list) {
    if (list.size() == list.capacity()) list.reserve(2 * list.size() + 4);
}

struct ProgressCall {
    explicit ProgressCall(core::Thread& thread) noexcept : thread(thread) {}
    ~ProgressCall() { wake_all(); }  // where memory ran out; else finish() has
    ProgressCall(const ProgressCall&) = delete;
    ProgressCall& operator=(const ProgressCall&) = delete;

    /// Marks the request complete. Its thread is woken by finish().
    void complete(core::Request& request) noexcept {
        request.done.store(true, release);  // R1: pairs with A1 in Request::completed()
        sync::ProcessFence::light();        // F1: pairs with the heavy fence in progress/lot.hpp
        if (sync::Slot* waiter = request.waiter.load(relaxed)) [[unlikely]]
            tell(request, waiter);
    }
    /// Wakes a thread, or has a listener do what it does (p2p/listener.hpp).
    void tell(core::Request& request, sync::Slot* waiter) noexcept;
    void wake(sync::Slot& slot) noexcept {
        if (sleepers == slots.size()) return slot.signal();
        slots[sleepers++] = &slot;
    }
    /// Has finish() run the work.
    void put_off(core::Work& work) noexcept {
        work.next = thread.put_off;
        thread.put_off = &work;
    }
    void wake_all() noexcept {
        while (sleepers > 0) slots[--sleepers]->signal();
    }

    core::Thread& thread;
    std::vector<Pull> pulls;  ///< in the order in which they were matched
    std::size_t pulled = 0;   ///< so many of them are done
    std::vector<Share> shares;
    std::vector<Undone> undone;
    bool needs_order = false;  ///< there are messages to be put in order
    Ready left;                ///< since a wildcard receive may want its message
    std::uint32_t sleepers = 0;
    std::array<sync::Slot*, 16> slots;
};

/// Does what was put off while locks were held, when none is.
void finish(ProgressCall& call);
/// Calls `part`, and finishes the progress call also where memory runs out in it: what it has matched is not lost.
template <class Part>
void finish_after(ProgressCall& call, Part&& part) {
    try {
        part();
    } catch (...) {
        finish(call);
        throw;
    }
    finish(call);
}

}  // namespace heddle::p2p

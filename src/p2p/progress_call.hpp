// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Work that a thread gathers while it holds a lock, and does once it has unlocked it. It wakes
/// threads, makes long copies, and starts operations.

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

/// A matched message whose payload is still with its sender, or in a ring of payload.
struct Pull {
    core::Request* receive;
    std::int32_t process;
    std::uint8_t instance;
    std::uint64_t sender;
    std::uint64_t address;
    std::uint64_t length;
    const Protocol* protocol = nullptr;  ///< protocol that carries the payload (p2p/protocols/)
    bool synchronous = false;            ///< streamed: the sender waits for an answer in any case
    std::uint8_t manifest = 0;           ///< streamed
    std::uint64_t key = 0;               ///< readable: key for reading the memory
    std::uint64_t from = 0;              ///< bytes that are here already
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

/// A ring that has a message.
struct Ready {
    instance::Instance* instance = nullptr;
    instance::Inlet* inlet = nullptr;
};

/// Makes room for one more element, so that adding it cannot fail.
template <class T>
void make_room(std::vector<T>& list) {
    if (list.size() == list.capacity()) list.reserve(2 * list.size() + 4);
}

struct ProgressCall {
    explicit ProgressCall(core::Thread& thread) noexcept : thread(thread) {}
    ~ProgressCall() { wake_all(); }  // if memory ran out; otherwise finish() has
    ProgressCall(const ProgressCall&) = delete;
    ProgressCall& operator=(const ProgressCall&) = delete;

    /// Marks the request complete. finish() wakes its thread.
    void complete(core::Request& request) noexcept {
        request.done.store(true, release);  // R1: pairs with A1 in Request::completed()
        sync::ProcessFence::light();        // F1: pairs with the heavy fence in progress/lot.hpp
        if (sync::Slot* waiter = request.waiter.load(relaxed)) [[unlikely]]
            tell(request, waiter);
    }
    /// Wakes a thread, or calls a listener (p2p/requests/listener.hpp).
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
    std::size_t pulled = 0;   ///< how many of them are done
    std::vector<Share> shares;
    std::vector<Undone> undone;
    bool needs_order = false;  ///< messages have to be put in order
    Ready left;                ///< left because a wildcard receive may want its message
    std::uint32_t sleepers = 0;
    std::array<sync::Slot*, 16> slots;
};

/// Does work that was put off while locks were held, when none is.
void finish(ProgressCall& call);
/// Calls `part`, and finishes the progress call even if memory runs out in it. So no message that
/// it has matched is lost.
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

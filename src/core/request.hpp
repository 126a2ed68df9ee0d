// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A request: one operation in progress, two cache lines.
///
/// Life           taken from the pool of the thread that starts the operation, then posted. The
///                thread that makes progress completes it; the thread that waits for it frees it.
/// Completion     everything that the waiter reads is written before `done` is stored with release
///                (R1). Then `waiter` is read, and signalled if there is one. A waiter that wants
///                to sleep stores its slot, passes a heavy fence, and looks at `done` again
///                (progress/wait.hpp). No lock is involved.
/// Memory         never unmapped. The completer may read `waiter` after the owner has freed the
///                request and even used it again. It then sends one signal too many, which is
///                harmless.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/object.hpp"
#include "sync/claims.hpp"
#include "sync/orders.hpp"
#include "sync/parking.hpp"

namespace heddle::objects {
struct Communicator;
struct Datatype;
}  // namespace heddle::objects

namespace heddle::core {

/// Kind of a request: the place of its core::RequestType (core/request_type.hpp).
enum class Operation : std::uint8_t {
    none,
    send,
    receive,
    // The persistent ones follow each other. Their `inner` is the active operation.
    persistent_send,
    persistent_receive,
    persistent_schedule,
    persistent_partitioned,
    generalized,
    schedule,     ///< a nonblocking collective (coll/execution.hpp)
    join,         ///< complete when several operations are (p2p/requests/join.hpp)
    partitioned,  ///< a transfer of a partitioned message (partitioned/partitioned.hpp)
    access,       ///< to a window of another node (rma/far_targets.hpp)
    flush,        ///< complete when buffered messages have left (p2p/buffered.hpp)
    file,         ///< an access to a file (io/request.hpp)
};
inline constexpr std::size_t operations = static_cast<std::size_t>(Operation::file) + 1;
inline constexpr bool is_persistent(Operation operation) noexcept {
    return operation >= Operation::persistent_send &&
        operation <= Operation::persistent_partitioned;
}

/// Outcome of a completed operation; becomes an MPI_Status.
struct Outcome {
    std::int32_t source;
    std::int32_t tag;
    std::int32_t error;
    bool cancelled;
    std::uint64_t bytes;
};

struct alignas(cache_line) Request {
    // The line that matching and completion touch.
    Request* next = nullptr;  ///< in a matching queue, a backlog or a pool
    std::atomic<sync::Slot*> waiter{nullptr};
    std::byte* buffer = nullptr;
    std::uint64_t capacity = 0;  ///< bytes that fit into the buffer, or that are to be sent
    union {
        std::uint64_t bytes = 0;  ///< bytes that came
        /// While posted: the one before in a matching queue, unless it is the first one there.
        Request* before;
    };
    /// A receive's post order (match/matcher.hpp). If the receive was too short, the length of its
    /// message. A send's offer.
    std::uint64_t order = 0;
    std::uint32_t context = 0;
    std::int32_t source = 0;  ///< wanted, then matched: rank in the communicator
    std::int32_t tag = 0;     ///< wanted, then matched
    std::atomic<bool> done{false};
    Operation operation = Operation::none;
    std::uint8_t instance = 0;
    bool laid_out = false;  ///< bytes lie in the buffer as `layout` says; not set while in a pool

    // The line of the other members.
    std::atomic<Kind> kind{Kind::none};  ///< Kind::request while a handle may name it
    // Eight bytes that one store sets (clear_outcome()).
    std::int32_t error = 0;
    bool cancelled = false;
    bool synchronous = false;  ///< send: completes when it is matched
    bool immortal = false;     ///< shared, never freed: the completed send
    /// Send: goes through a ring of payload. Receive: see p2p/requests/awaited_peer.hpp.
    bool streamed = false;
    std::int32_t peer = 0;                          ///< number of the other process
    objects::Communicator* communicator = nullptr;  ///< counted while the operation is active
    objects::Datatype* layout = nullptr;            ///< counted; good while laid_out
    union {
        Request* inner = nullptr;  ///< the active operation of a persistent request
        std::uint64_t remaining;   ///< otherwise: bytes still to come, of a pipelined copy
    };
    union {
        void* extra = nullptr;       ///< belongs to the operation's own file
        std::int32_t wanted_source;  ///< of a receive with MPI_ANY_TAG; matching changes `source`
    };
    bool any_tag =
        false;  ///< a receive of no instance, or parts in several (p2p/requests/join.hpp)
    bool announced = false;  ///< send: counted among those whose payload is still to be taken
    sync::Claims::Claimable claimable;  ///< by the one thread that completes or frees it

    bool completed() const noexcept { return done.load(acquire); }  // A1: pairs with R1

    void clear_outcome() noexcept {
        error = 0;
        cancelled = synchronous = immortal = streamed = false;
    }

    /// Has `slot` signalled when the request completes. Returns false if another thread's slot is
    /// announced already. That only happens if two threads of a program wait for copies of one
    /// handle.
    [[nodiscard]] bool announce(sync::Slot* slot) noexcept {
        sync::Slot* before = nullptr;
        return waiter.compare_exchange_strong(before, slot, relaxed, relaxed) || before == slot;
    }
    void unannounce(sync::Slot* slot) noexcept {
        waiter.compare_exchange_strong(slot, nullptr, relaxed, relaxed);
    }
};
static_assert(sizeof(Request) == 2 * cache_line);

}  // namespace heddle::core

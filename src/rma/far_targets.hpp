// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Targets of other nodes, as this process accesses them. It sends messages that their processes
/// serve (rma/far_service.hpp), whatever these processes do meanwhile.
///
/// Operations     put(), get() and accumulate() send, and wait for nothing but room in the lane.
///                The caller may change its data when they return. Data that it asks for arrive
///                before the next flush of the target is complete.
/// Flush          a question behind everything before it. None is sent if no operation has begun
///                since the last one. So a flush waits for no operation that another thread begins
///                after it.
/// Dynamic        this process asks the target for attached memory, and remembers it. The target
///                refuses access to memory that was detached since then, and the next flush raises
///                the error.
/// Locks          those of near targets (window_lock.hpp, whole_lock.hpp). The target's process
///                takes them for this process, or the first process of a node does.
/// Errors         operations have been checked against the window (rma/access.hpp). All may throw
///                std::bad_alloc.
/// Thread safety  everything from any thread.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/thread.hpp"
#include "objects/block_copy.hpp"
#include "objects/window.hpp"
#include "p2p/engine.hpp"
#include "p2p/requests/listener.hpp"
#include "rma/access.hpp"
#include "rma/far_messages.hpp"
#include "rma/meeting.hpp"
#include "rma/piece.hpp"
#include "rma/whole_lock.hpp"

namespace heddle::rma {

class FarTargets final : public p2p::Listener, public std::enable_shared_from_this<FarTargets> {
public:
    /// Accesses a window that lives longer than any operation on it.
    explicit FarTargets(objects::Window& window);
    ~FarTargets();
    FarTargets(const FarTargets&) = delete;
    FarTargets& operator=(const FarTargets&) = delete;

    /// Elements of a target, of which `bytes` are to be moved.
    struct There {
        core::Thread& thread;
        std::int32_t rank;
        objects::Place place;
        const objects::Datatype& type;
        std::uint64_t bytes;
    };
    void put(const There& to, const Local& from);
    void get(const There& from, const Local& to);
    void accumulate(core::Thread& thread, std::int32_t rank, const ElementOperation& operation,
                    const objects::Datatype& element, const Piece& piece);
    void compare_and_swap(core::Thread& thread, std::int32_t rank, objects::Place place,
                          const std::byte* origin, const std::byte* compare, std::byte* result,
                          std::uint64_t bytes);

    // The flushes raise the errors of operations that the target has refused.

    int flush(core::Thread& thread, std::int32_t rank);
    int flush_all(core::Thread& thread);
    /// Waits until the data that this process asked for have arrived.
    int flush_local(core::Thread& thread, std::int32_t rank);
    int flush_all_local(core::Thread& thread);

    bool is_attached(core::Thread& thread, std::int32_t rank, std::uint64_t address,
                     std::uint64_t bytes);

    // Locks (far_locks.cpp). `holds`: this process has another lock of the window.
    int lock(core::Thread& thread, std::int32_t rank, bool exclusive, bool holds);
    void unlock(core::Thread& thread, std::int32_t rank, bool exclusive);
    /// Takes a step at the lock of all targets of the node whose first rank is `first`.
    WholeState take_step(core::Thread& thread, std::int32_t first, WholeStep step);
    void leave_all_nodes(core::Thread& thread);

    /// Handles data that have come or been refused.
    void completed(p2p::ProgressCall& call, core::Request& request) noexcept override;

private:
    struct Account;
    class Copy;
    struct Flush {
        std::int32_t rank = 0;
        std::uint64_t issued = 0;
        core::Request* request = nullptr;
    };
    struct Lock {
        std::int32_t rank = 0;
        bool exclusive = false, holds = false;
        LockAnswer answer{};
    };

    Account& account(std::int32_t rank) noexcept;
    void count(std::int32_t rank, bool fetches) noexcept;

    p2p::Outbound message_to(std::int32_t rank) const noexcept;
    static core::Request& new_request(core::Thread& thread, p2p::Listener* listener, void* buffer,
                                      std::uint64_t bytes);
    core::Request& expect(core::Thread& thread, std::int32_t rank, void* buffer,
                          std::uint64_t bytes, objects::Datatype* layout);
    static void post(core::Thread& thread, const p2p::Outbound& message,
                     const p2p::AccessFields& fields, core::Request* completes);
    void send(core::Thread& thread, std::int32_t rank, const p2p::Outbound& message,
              p2p::AccessFields fields);
    void send_copy(core::Thread& thread, const p2p::Outbound& message, p2p::AccessFields fields);
    /// Sends a question. hear() waits for its answer, frees the request and returns its error.
    core::Request& ask(core::Thread& thread, std::int32_t rank, p2p::AccessFields fields,
                       void* answer, std::uint64_t bytes);
    core::Request& insist(core::Thread& thread, std::int32_t rank, const p2p::AccessFields& fields,
                          void* answer, std::uint64_t bytes);
    int hear(core::Thread& thread, core::Request& request, std::int32_t rank,
             node::AwaitedKind what);

    bool start_flush(core::Thread& thread, std::int32_t rank, Flush& flush);
    int finish(core::Thread& thread, const Flush& flush);
    template <class Wanted>
    int flush_if(core::Thread& thread, Wanted&& wanted);

    void ask_for(core::Thread& thread, Lock& lock, LockStage stage);
    int wait_for(core::Thread& thread, const Lock& lock);

    objects::Window& window_;
    std::vector<std::int32_t> ranks_;       ///< the far ones
    std::unique_ptr<Account[]> accounts_;   ///< by rank
    std::atomic<std::uint64_t> copied_{0};  ///< bytes of data that were copied and have not left
    std::mutex regions_lock_;
};

/// Flushes all far targets, if there are any.
inline int flush_far(core::Thread& thread, objects::Window& window) {
    return window.far == nullptr ? MPI_SUCCESS : window.far->flush_all(thread);
}
inline int flush_far(core::Thread& thread, objects::Window& window, std::int32_t rank) {
    return window.targets[rank].far ? window.far->flush(thread, rank) : MPI_SUCCESS;
}

}  // namespace heddle::rma

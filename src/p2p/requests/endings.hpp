// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Operations that must end before MPI is left, although no thread waits for them by a request.
/// They are sends whose requests the program has freed, and operations that consist of several.
/// MPI_Finalize and MPI_Session_finalize wait here.
///
/// Thread safety  any thread.
/// Waking         await() announces the slot, and a heavy fence follows before the thread sleeps.
///                tell() comes after the change, behind a light fence. So one of the two sees the
///                other.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "core/request.hpp"
#include "core/thread.hpp"
#include "sync/asymmetric_fence.hpp"

namespace heddle::objects {
struct Session;
}
namespace heddle::p2p {

class Endings {
public:
    /// Owner of sends: the world model (nullptr) or a session, or all owners.
    using Owner = std::optional<const objects::Session*>;
    static constexpr Owner everybody = std::nullopt;

    /// Frees a request that its user no longer needs when its operation completes.
    void free_when_done(core::Thread& thread, core::Request& request);
    /// Returns whether sends of `owner` are among those requests, not complete yet.
    bool has_sends(core::Thread& thread, Owner owner);
    /// Frees those requests that are complete.
    void reap(core::Thread& thread) {
        if (count_.load(relaxed) != 0) [[unlikely]]
            reap_some(thread);
    }

    /// Counts operations that consist of several (nonblocking collectives).
    void count_composed(int change) noexcept {
        // Relaxed: a thread that sees the count go to zero reads nothing that was written before.
        if (composed_.fetch_add(static_cast<std::uint32_t>(change), relaxed) == 1 && change == -1)
            tell();
    }
    bool all_composed_over() const noexcept { return composed_.load(relaxed) == 0; }

    /// Signals `slot` whenever an operation may have ended (tell()), until unawait(slot).
    void await(sync::Slot& slot);
    void unawait(sync::Slot& slot);
    /// Called after a change that may have made an awaited condition true.
    void tell() {
        sync::ProcessFence::light();  // F1: pairs with the heavy fence after await()
        if (awaiting_.load(relaxed) != 0) [[unlikely]]
            tell_all();
    }
    void tell_all();

private:
    void reap_some(core::Thread& thread);

    std::mutex lock_;
    std::vector<core::Request*> abandoned_;  ///< freed by the user, not yet complete
    std::vector<sync::Slot*> awaited_by_;    ///< likewise guarded by lock_
    std::atomic<std::uint32_t> awaiting_{0};
    std::atomic<std::uint32_t> count_{0};
    std::atomic<std::uint32_t> composed_{0};
};

}  // namespace heddle::p2p

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Tells the launcher which messages lie here that no receive awaits
/// (node/unexpected_messages.hpp). A sleeping thread perhaps should have waited for one of them.
///
/// Current        a thread that takes a message and sleeps for long afterwards writes the list. So
///                does the leader, which wakes for each message. Therefore the list is current
///                while all threads of the process sleep. If many messages are kept, it may lag by
///                a tenth of a second (progress/board.hpp).
/// Cost           as that of tell.hpp. It is for threads that have slept for long.
/// Thread safety  any thread, without locks.

#include <atomic>
#include <cstdint>

#include "core/thread.hpp"
#include "node/unexpected_messages.hpp"
#include "p2p/base.hpp"
#include "p2p/message_offers.hpp"
#include "sync/mutex.hpp"

namespace heddle::p2p {

class UnexpectedNotice {
public:
    UnexpectedNotice(Base& base, const MessageOffers& offers) noexcept
        : base_(base), offers_(offers) {}

    /// Returns whether messages have come or gone since the list was written.
    bool is_stale() noexcept { return changes() != written_.load(relaxed); }
    /// Returns whether so few messages are kept that the leader can write for each new one.
    bool is_cheap() noexcept;
    /// Writes the list if it is stale, or if names have changed since.
    void write(core::Thread& thread) noexcept;

private:
    std::uint64_t changes() noexcept;
    node::UnexpectedMessages list() noexcept;

    Base& base_;
    const MessageOffers& offers_;
    sync::Mutex writing_;
    node::UnexpectedMessages listed_{};      ///< the list without names; guarded by writing_
    node::UnexpectedMessages published_{};   ///< with names; guarded by writing_
    std::atomic<std::uint64_t> written_{0};  ///< changes() as of the list
};

}  // namespace heddle::p2p

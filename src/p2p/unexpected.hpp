// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages that came before a receive for them was posted. They are kept in the queues of their
/// instance.
///
/// Taken back     a sender may have taken a message back (p2p/message_offers.hpp). A search of its
///                queue drops it. So does a sweep; it runs after so many new messages that it costs
///                little.
/// Thread safety  the instance's key says which thread may call.

#include <atomic>
#include <cstdint>

#include "instance/instance.hpp"
#include "match/recording.hpp"
#include "p2p/message_offers.hpp"
#include "p2p/messages.hpp"
#include "p2p/pressure.hpp"
#include "p2p/watchers.hpp"

namespace heddle::p2p {

struct Base;

class Unexpected {
public:
    /// `recording` is nullptr if nothing is recorded.
    Unexpected(const Base& base, Messages& messages, const MessageOffers& offers,
               Pressure& pressure, match::Recording* recording) noexcept
        : base_(base),
          messages_(messages),
          offers_(offers),
          pressure_(pressure),
          recording_(recording) {}

    /// Returns the threads that probe, which are told about kept messages.
    Watchers& watchers() noexcept { return watchers_; }

    void keep(ProgressCall& call, instance::LockedInstance instance, match::Message& message);
    /// Does the same for a message that its sender may take back.
    void keep_offered(ProgressCall& call, instance::LockedInstance instance,
                      match::Message& message);
    /// Returns the first message that the pattern accepts, or nullptr if there is none.
    match::Message* find(instance::LockedInstance instance, const match::Pattern& pattern) noexcept;
    /// Takes the message out of its queue.
    void take(instance::LockedInstance instance, match::Message& message);
    /// Returns whether the message can still be had. If not, discards it.
    bool accept_or_discard(instance::LockedInstance instance, match::Message& message) noexcept;
    /// The receive was just given `message`. Returns the message that it gets, or nullptr if it has
    /// been posted.
    match::Message* take_accepted(instance::LockedInstance instance, core::Request& receive,
                                  match::Message* message) noexcept;
    /// Removes a message that has been taken back.
    void discard(instance::LockedInstance instance, match::Message& message) noexcept;
    /// Frees a message that is in no queue and that no receive will get.
    void drop(match::Message& message) noexcept;
    /// Drops messages that have been taken back.
    void sweep(instance::LockedInstance instance) noexcept;
    /// Returns how often there has been a sweep. Called with everything locked.
    std::uint64_t sweeps() const noexcept { return sweeps_.load(relaxed); }

private:
    void note_taken(instance::LockedInstance instance, const match::Message& message);

    const Base& base_;
    Messages& messages_;
    const MessageOffers& offers_;
    Pressure& pressure_;
    match::Recording* const recording_;
    Watchers watchers_;
    std::atomic<std::uint64_t> sweeps_{0};
};

}  // namespace heddle::p2p

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages that came before a receive for them was posted: kept in the queues of their instance.
///
/// Taken back     a sender may have taken a message back (p2p/message_offers.hpp). It is dropped where it is come across: when
///                a queue is searched, or by a sweep after so many have been kept that it costs little.
/// Thread safety  the instance's key says who may call.

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
    /// `recording`: nullptr if nothing is recorded.
    Unexpected(const Base& base, Messages& messages, const MessageOffers& offers,
               Pressure& pressure, match::Recording* recording) noexcept
        : base_(base),
          messages_(messages),
          offers_(offers),
          pressure_(pressure),
          recording_(recording) {}

    /// Threads that probe are told of what is kept.
    Watchers& watchers() noexcept { return watchers_; }

    void keep(ProgressCall& call, instance::LockedInstance instance, match::Message& message);
    /// The same of one that its sender may take back.
    void keep_offered(ProgressCall& call, instance::LockedInstance instance,
                      match::Message& message);
    /// The first one that the pattern accepts; nullptr: there is none.
    match::Message* find(instance::LockedInstance instance, const match::Pattern& pattern) noexcept;
    /// Takes it out of its queue.
    void take(instance::LockedInstance instance, match::Message& message);
    /// Whether it is still to be had; else it goes.
    bool accept_or_discard(instance::LockedInstance instance, match::Message& message) noexcept;
    /// The receive was just given `message`. Answers the one that it gets; nullptr: it has been posted.
    match::Message* take_accepted(instance::LockedInstance instance, core::Request& receive,
                                  match::Message* message) noexcept;
    /// One that has been taken back goes.
    void discard(instance::LockedInstance instance, match::Message& message) noexcept;
    /// One that is in no queue, and that nobody is going to receive, goes.
    void drop(match::Message& message) noexcept;
    /// Drops those that have been taken back.
    void sweep(instance::LockedInstance instance) noexcept;
    /// How often there has been a sweep. For who has locked everything.
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

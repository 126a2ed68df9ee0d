// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Sending, matching and making progress in recipes of the laboratory (p2p/laboratory.hpp).
///
/// Thread safety  as the functions of Sender, Receiver and Polling in whose place they stand.

#include <cstdint>

#include "p2p/base.hpp"
#include "p2p/outbound.hpp"
#include "p2p/progress_call.hpp"
#include "transport/header.hpp"

namespace heddle::p2p {

class Backlog;
class Messages;
class Polling;
class Receiver;
class Sender;

class Recipes {
public:
    struct Others {
        Sender& sender;
        Receiver& receiver;
        Polling& polling;
        Backlog& backlog;
        Messages& messages;
    };
    Recipes(Base& base, const Others& others) noexcept : base_(base), others_(others) {}

    /// What the thread is to the sections of the recipe; nullptr: there are none.
    sync::locks::Visitor* visitor_for(core::Thread& thread);
    core::Request* send(core::Thread& thread, const Outbound& message, Sending how);
    /// What Polling::poll() is there.
    bool poll(core::Thread& thread);
    /// What poll() and poll_all() are to MPI_Test and its like.
    void test(core::Thread& thread);
    /// The instance that the thread's next operation on a window is to hold
    /// (p2p/held_instance.hpp). `context` is the window's.
    std::size_t choose_instance(const core::Thread& thread, std::uint32_t context) noexcept;

    // --- messages that have numbers ---

    /// Takes a message out of a ring, to be matched at its home; false if the ring has to be left as it is.
    bool set_aside(ProgressCall& call, instance::LockedInstance instance, std::int32_t process,
                   const transport::Header& header);
    void match_set_aside(ProgressCall& call);
    /// Also what another thread would look at next.
    void match_all_that_came(ProgressCall& call);

private:
    Post post_in_section(core::Thread& thread, instance::Instance& way, const Outbound& message,
                         std::uint64_t number);
    core::Request* start_in_section(core::Thread& thread, instance::Instance& way,
                                    const Outbound& message, bool synchronous,
                                    std::uint64_t number);
    core::Request* send_with_request(core::Thread& thread, const Outbound& message,
                                     instance::Instance& way, std::uint64_t number);
    void count_reference(core::Thread& thread, objects::Communicator& communicator, int change);
    bool poll_own_first(core::Thread& thread);
    bool poll_in_section(core::Thread& thread, std::size_t number);
    void match_in_sequence(ProgressCall& call, instance::LockedInstance home,
                           match::Message& message);
    void match_at_home(ProgressCall& call, instance::LockedInstance home, match::Message& message);

    Base& base_;
    const Others others_;
};

}  // namespace heddle::p2p

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Sends, matching and progress in recipes of the laboratory (p2p/laboratory/laboratory.hpp).
///
/// Thread safety  as the functions of Sender, Receiver and Polling that these replace.

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

    /// Returns the thread's visitor of the recipe's sections, or nullptr if there are none.
    sync::locks::Visitor* visitor_for(core::Thread& thread);
    core::Request* send(core::Thread& thread, const Outbound& message, Sending how);
    /// Replaces Polling::poll().
    bool poll(core::Thread& thread);
    /// Replaces poll() and poll_all() in MPI_Test and its like.
    void test(core::Thread& thread);
    /// Returns the instance that the thread's next operation on a window must hold
    /// (p2p/laboratory/held_instance.hpp). `context` is the window's.
    std::size_t choose_instance(const core::Thread& thread, std::uint32_t context) noexcept;

    // --- messages that have numbers ---

    /// Takes a message out of a ring, to be matched at its home. Returns false if the ring must be
    /// left as it is.
    bool reorder(ProgressCall& call, instance::LockedInstance instance, std::int32_t process,
                 const transport::Header& header);
    void match_reordered(ProgressCall& call);
    /// Matches all messages, also those that another thread would look at next.
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

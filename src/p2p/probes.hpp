// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Looks for messages that no receive has got (MPI_Probe and its like).
///
/// Thread safety  every function from any thread, with that thread's own Thread.

#include "core/request.hpp"
#include "match/message.hpp"
#include "p2p/base.hpp"
#include "p2p/progress_call.hpp"

namespace heddle::p2p {

class AnyTag;
class Far;
class Polling;
class Unexpected;

class Probes {
public:
    struct Others {
        AnyTag& any_tag;
        Unexpected& unexpected;
        Polling& polling;
        Far& far;
    };
    Probes(Base& base, const Others& others) noexcept : base_(base), others_(others) {}

    /// Finds the first message that the pattern accepts, and leaves it in its place. Returns false
    /// if there is none.
    bool find(core::Thread& thread, const match::Pattern& pattern, bool in_order,
              core::Outcome& found);
    /// Does the same, and takes the message out for Receiver::receive_matched(). Returns nullptr if
    /// there is none.
    match::Message* take(core::Thread& thread, const match::Pattern& pattern, bool in_order,
                         core::Outcome& found);

private:
    /// A search for a message.
    struct Wanted {
        const match::Pattern& pattern;
        bool in_order;
        bool take;  ///< whether it leaves its queue
        core::Outcome& found;
    };
    match::Message* search(core::Thread& thread, const Wanted& wanted);
    bool search_at_home(ProgressCall& call, const Wanted& wanted, match::Message*& message);
    match::Message* search_instance(instance::LockedInstance instance, const Wanted& wanted);
    bool accept(instance::LockedInstance instance, const Wanted& wanted, match::Message& message);

    Base& base_;
    const Others others_;
};

}  // namespace heddle::p2p

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Receives and probes with MPI_ANY_TAG. They look across instances (p2p/wildcards.hpp), or stay at
/// the home of their class (p2p/homes.hpp; any_tag_homes.cpp).
///
/// Order          messages that such a receive could get are taken out of the rings in the order of
///                their sends. Everything is locked meanwhile: drain_in_order(). Messages that
///                follow one that its sender says is blocked are deferred.
/// Thread safety  the keys say which thread may call. Functions without one take what they need.

#include <atomic>
#include <cstdint>

#include "p2p/base.hpp"
#include "p2p/deferred.hpp"
#include "p2p/homes.hpp"
#include "p2p/progress_call.hpp"
#include "p2p/wildcards.hpp"
#include "transport/header.hpp"

namespace heddle::p2p {

class HotRings;
class Receiver;
class Unexpected;

class AnyTag {
public:
    using Instances = instance::Instances;

    struct Others {
        Receiver& receiver;
        Unexpected& unexpected;
        HotRings& rings;
    };
    AnyTag(Base& base, const Others& others);

    // --- receives ---

    /// Posts the receive, or gives it a message that is here. `in_order`: no message may overtake.
    core::Request* post(core::Thread& thread, core::Request& receive, bool in_order);
    /// Takes the receive out of its list. Returns false if it is in none.
    bool cancel(core::Request& receive) noexcept;
    /// Returns the instances by which its message is likely to come.
    Instances likely_instances(const core::Request& request) const noexcept;
    /// For probes: returns the first message that the pattern accepts, and leaves it in its place.
    /// Returns nullptr if there is none.
    match::Message* find_anywhere(ProgressCall& call, const instance::AllInstances& all,
                                  const match::Pattern& pattern, bool in_order);
    /// Returns the number of the instance by which everything that the pattern accepts comes.
    /// Returns Homes::nowhere if there is no such instance.
    std::uint8_t home_of(std::uint32_t context) const noexcept { return homes_.of(context); }

    // --- messages that come ---

    /// Returns the receive that gets a message with this envelope, with MPI_ANY_TAG or not. Takes
    /// it out of its list.
    core::Request* match(instance::LockedInstance instance, match::Envelope envelope) noexcept;
    /// Returns whether a message of this instance may match such a receive.
    bool may_be_posted_at(instance::LockedInstance instance) const noexcept {
        return wildcards_.any() || homes_.any_at(instance);
    }
    /// Returns whether a message of this context, come by this instance, must be matched with
    /// everything locked. Asked for classes that have the instance's attention.
    bool awaits_order(instance::LockedInstance instance, std::uint32_t context) noexcept;
    /// Returns whether the instance is the home of the context's class and all messages so far came
    /// by it. No message may be known to come by another instance.
    bool is_at_home(std::uint32_t context, instance::LockedInstance instance) const noexcept;
    bool has_home_elsewhere(std::uint32_t context,
                            instance::LockedInstance instance) const noexcept;
    /// Ends the home after a message has come by another instance. Throws std::bad_alloc, and has
    /// changed nothing then.
    void leave_home(std::uint32_t context);
    /// Returns whether a message that was sent before this stamp is deferred.
    bool deferred_precede(std::int32_t process, std::uint32_t context,
                          std::uint64_t stamp) const noexcept {
        return deferred_.precede(process, context, stamp);
    }

    // --- order ---

    /// Matches everything that has come in the order in which it was sent.
    void drain_in_order(ProgressCall& call, const instance::AllInstances& all);
    /// Does the same if progress has met a message that awaits it.
    void restore_order(ProgressCall& call);
    /// Returns whether a message is deferred, and a sender has rung for one that it waits for.
    bool may_release_deferred() const noexcept {
        return any_deferred_.load(relaxed) && base_.mailbox().withdrawn.load(seq_cst) != 0;
    }

    // --- for visits of everything ---

    /// Calls visit(receive) for each posted receive.
    template <class Visit>
    void each_posted(Visit&& visit) {
        wildcards_.each_posted(visit);
        homes_.each([&](std::size_t instance, PostedWildcards& posted) {
            const instance::InstanceLock held(base_.pool[instance]);
            posted.each_posted(visit);
        });
    }
    /// Calls visit(list) for each list of posted receives. Lists have each_posted() and cancel().
    template <class Visit>
    void each_list(const instance::AllInstances&, Visit&& visit) {
        visit(wildcards_);
        homes_.each([&](std::size_t, PostedWildcards& posted) { visit(posted); });
    }
    template <class Visit>
    void each_deferred(const instance::AllInstances&, Visit&& visit) {
        deferred_.each(visit);
    }
    void add_to(tool::Values& values);
    void add_to(tool::Values& values, std::uint32_t context);
    /// Ends the counting of earlier searches for a communicator.
    void forget(std::uint32_t context);

private:
    class NoteOfDeferred;

    // any_tag.cpp
    void take_out_of_rings(ProgressCall& call, const instance::AllInstances& all,
                           std::uint64_t last_stamp);
    Ready another_ready(const instance::AllInstances& all, const instance::Inlet* besides);
    bool drain_only(ProgressCall& call, const instance::AllInstances& all);
    void list_all_rung(const instance::AllInstances& all);
    bool may_be_preceded(const match::Message& message) noexcept;
    match::Message* find(ProgressCall& call, const instance::AllInstances& all,
                         const match::Pattern& pattern, bool in_order);
    match::Message* lowest(const instance::AllInstances& all, const match::Pattern& pattern);
    match::Message* earliest(const instance::AllInstances& all, const match::Pattern& pattern);
    match::Message* earliest_in_order(ProgressCall& call, const instance::AllInstances& all,
                                      const match::Pattern& pattern);
    void defer_unexpected(const instance::AllInstances& all, const match::Envelope& first);
    std::uint64_t next_order(const instance::AllInstances& all) noexcept;
    match::Message* post_everywhere(ProgressCall& call, const instance::AllInstances& all,
                                    core::Request& receive, bool in_order);

    // any_tag_homes.cpp
    bool post_at_home(core::Request& receive, bool in_order, match::Message*& message);
    match::Message* post_here(instance::LockedInstance instance, core::Request& receive,
                              bool in_order);
    void pay_attention(const instance::AllInstances& all, std::uint64_t classes) noexcept;
    void be_wild(const instance::AllInstances& all, std::uint32_t context) noexcept;
    bool relocate(const instance::AllInstances& all, std::uint32_t context);
    void relocate_all(const instance::AllInstances& all);
    core::Request* take_for(instance::LockedInstance instance, const match::Envelope& envelope,
                            std::uint64_t before) noexcept;

    Base& base_;
    const Others others_;
    alignas(cache_line) Wildcards wildcards_;
    Homes homes_;
    Deferred deferred_;
    std::atomic<bool> any_deferred_{false};  ///< as of the last time that everything was locked
};

}  // namespace heddle::p2p

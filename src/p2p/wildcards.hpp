// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Receives with MPI_ANY_TAG whose messages come by several instances. The process has one matcher
/// for them. (For other ones see p2p/homes.hpp.)
///
/// Order          a wildcard is posted with everything locked (instance::AllInstances). It gets an
///                order above every receive posted before it. Every receive posted later gets one
///                above its own. So orders tell which was first, and exact receives pay nothing for
///                it. Messages that a wildcard could get are taken from the rings in the order of
///                their stamps, everything locked (AnyTag::drain_in_order). `filter` tells progress
///                which messages these are. If overtaking is allowed, neither is needed.
/// Locks          `list_lock` after those of instances.

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/request.hpp"
#include "instance/all_instances.hpp"
#include "match/selected.hpp"
#include "sync/mutex.hpp"
#include "tool/counters.hpp"

namespace heddle::p2p {

/// Posted receives with MPI_ANY_TAG, each with the order that it has been given. The user locks.
class PostedWildcards {
public:
    /// Selects the engine of this name to find receives. Called before anything is posted.
    void select(std::string_view matcher) { posted_.select(matcher); }

    /// Puts a receive in. Receives of one context come in the order of their orders.
    void put(core::Request& receive) noexcept;
    /// Takes out the first that accepts the message and was posted before order `before`.
    core::Request* take_for(const match::Envelope& message, std::uint64_t before) noexcept;
    /// Takes `receive` out. Returns false if it is not there.
    bool cancel(core::Request& receive) noexcept;
    bool empty() const noexcept { return counters.any_tag_receives.value() == 0; }
    /// Returns the receives of the context's class, the first one first. Throws std::bad_alloc.
    std::vector<core::Request*> of_class(std::uint32_t context);

    template <class Visit>
    void each_posted(Visit&& visit) {
        posted_.each_posted(visit);
    }
    void add_to(tool::Values& sums) noexcept;
    match::SearchCounts& searches() noexcept { return posted_.searches(); }

    tool::counters::Ordering counters;

private:
    match::Selected posted_;
};

class Wildcards {
public:
    /// Selects the engine of this name to find receives. Called before anything is posted.
    void select(std::string_view matcher) { posted_.select(matcher); }

    /// Returns whether a message of this context must be delivered in order.
    bool want_order(std::uint32_t context) const noexcept {
        return (filter_.load(relaxed) >> (context & 63) & 1) != 0;
    }
    bool any() const noexcept { return count_.load(relaxed) != 0; }

    /// Makes any() true from now on, before anything is posted. So all messages take the path of
    /// those that may match a wildcard.
    void take_for_granted() noexcept { count_.store(1, relaxed); }

    /// Appends the receive with the order that it has.
    void append(const instance::AllInstances&, core::Request& receive, bool ordered) noexcept;

    /// Takes out the first wildcard that accepts the message and was posted before order `before`.
    core::Request* take_for(const match::Envelope& message, std::uint64_t before) noexcept;

    /// Adds or removes a reason to deliver messages of this context in order, wildcards or not.
    void demand_order(std::uint32_t context, int change) noexcept;

    /// Has messages of these contexts delivered in order, since some are deferred. Bit i stands for
    /// contexts i modulo 64.
    void order_deferred(const instance::AllInstances&, std::uint64_t contexts) noexcept;

    /// Takes `receive` out. Returns false if it is not there. Called with Pool::order_lock() held.
    bool cancel(core::Request& receive) noexcept;

    /// Calls visit(receive) for each wildcard.
    template <class Visit>
    void each_posted(Visit&& visit) {
        std::lock_guard guard(list_lock_);
        posted_.each_posted(visit);
    }
    /// Gives all wildcards of the context's class to another place, or takes them from there.
    /// Throws std::bad_alloc, and has changed nothing then.
    void move_to(const instance::AllInstances&, PostedWildcards& place, std::uint32_t context);
    void move_from(const instance::AllInstances&, PostedWildcards& place, std::uint32_t context);
    /// Adds the counters, all or those of one context.
    void add_to(tool::Values& sums) noexcept;
    void add_to(tool::Values& sums, std::uint32_t context);
    void forget(std::uint32_t context) noexcept;

    tool::counters::Ordering counters;  ///< written with everything locked

private:
    void put(core::Request& receive) noexcept;
    void note_taken(const core::Request& receive) noexcept;
    void count_reason(std::uint32_t context, int change) noexcept;
    void set_filter(std::uint32_t place) noexcept;
    void add_to_count(int change) noexcept;

    sync::Mutex list_lock_;
    PostedWildcards posted_;
    std::array<std::uint32_t, 64> ordered_{};  ///< reasons for order by context; list_lock_
    std::uint64_t deferred_ = 0;               ///< list_lock_
    /// Bit i: has a reason, or is deferred; written with list_lock_ held.
    std::atomic<std::uint64_t> filter_{0};
    std::atomic<std::uint32_t> count_{0};  ///< written with list_lock_ held
};

}  // namespace heddle::p2p

// SPDX-License-Identifier: BSD-3-Clause
/// Receives and probes with MPI_ANY_TAG of communicators whose messages all come by one instance (p2p/homes.hpp).

#include <bit>
#include <mutex>

#include "match/queue.hpp"
#include "p2p/all_instances_lock.hpp"

namespace heddle::p2p {

Engine::Instances Engine::likely_instances_of_any_tag(const core::Request& request) const noexcept {
    if (request.operation != core::Operation::receive) return all;
    const Instances by = classes_.instances(request.context);
    return by != 0 ? by : all;
}

/// Whether all that has come so far of the context's class came by this instance, its home, and no more is
/// known to be on its way elsewhere. Instance locked.
bool Engine::is_at_home(std::uint32_t context, const instance::Instance& instance) const noexcept {
    return homes_.of(context) == instance.number &&
        classes_.instances(context) == Instances{1} << instance.number &&
        !wildcards_.want_order(context);  // some is deferred
}

/// Instance locked.
bool Engine::has_home_elsewhere(std::uint32_t context,
                                const instance::Instance& instance) const noexcept {
    const std::uint8_t home = homes_.of(context);
    return home != Homes::nowhere && home != instance.number;
}

/// After something has come by another instance. No instance is locked. Throws std::bad_alloc, and has changed nothing
/// then.
void Engine::leave_home(std::uint32_t context) {
    const AllInstancesLock all(*this);
    settle(context);
}

/// Whether a message of this context, which has come by this instance, is to be matched with everything locked.
/// Asked for classes that have the instance's attention. Instance locked.
bool Engine::awaits_order(instance::Instance& instance, std::uint32_t context) noexcept {
    if (wildcards_.want_order(context)) return true;
    if (!homes_.is_wild(context)) {
        instance.attention &= ~transport::shm::class_bit(context);
        return false;
    }
    return homes_.of(context) != Homes::nowhere && !is_at_home(context, instance);
}

/// False: it is to be posted with everything locked. Else it has got `message`, or has been posted.
bool Engine::post_at_home(core::Request& receive, bool in_order, match::Message*& message) {
    const std::uint8_t home = homes_.of(receive.context);
    if (home == Homes::nowhere) return false;
    instance::Instance& instance = pool_[home];
    lock(instance, {receive.context, receive.source, receive.tag});
    const std::lock_guard held(instance.lock, std::adopt_lock);
    if (!is_at_home(receive.context, instance)) return false;
    message = post_here(instance, receive, in_order);
    return true;
}

/// At the home of its class: the message that it gets, taken out of its queue; nullptr: it has been posted.
/// Instance locked.
match::Message* Engine::post_here(instance::Instance& instance, core::Request& receive,
                                  bool in_order) {
    const match::Pattern pattern{receive.context, receive.source, receive.tag};
    match::Message* message = find_kept(instance, pattern);
    while (message != nullptr && !accept_or_discard(*message))
        message = find_kept(instance, pattern);
    if (message != nullptr) {
        take(instance, *message);
        match::mark_taken(receive);
        return message;
    }
    receive.order = instance.matcher.raise_order(0) + 1;
    instance.matcher.raise_order(receive.order);
    classes_.note_wildcard(receive.context, receive.order);
    receive.synchronous = in_order;  // as Wildcards::append() does
    homes_.at(instance.number).put(receive);
    instance.watched = true;
    return nullptr;
}

bool Engine::cancel_wildcard(core::Request& receive) noexcept {
    const std::lock_guard guard(wildcards_.lock);  // so that no class gets or leaves its home
    const std::uint8_t home = homes_.of(receive.context);
    if (home == Homes::nowhere) return wildcards_.cancel(receive);
    const std::lock_guard held(pool_[home].lock);
    return homes_.at(home).cancel(receive);
}

/// From now on messages of these classes, a bit for each, are looked at. All instances locked.
void Engine::pay_attention(std::uint64_t classes) noexcept {
    // Also in instances that are not in use: nobody looks there before they are.
    for (std::size_t i = 0; i < pool_.size(); ++i) pool_[i].attention |= classes;
}

/// All instances locked.
void Engine::be_wild(std::uint32_t context) noexcept {
    if (homes_.is_wild(context)) return;
    homes_.make_wild(context);
    pay_attention(transport::shm::class_bit(context));
}

/// Gives the context's class a home where it can have one, or has it leave. True: it has one. All instances locked.
/// Throws std::bad_alloc, and has changed nothing then.
bool Engine::settle(std::uint32_t context) {
    const std::uint8_t home = homes_.of(context);
    const Instances by = classes_.instances(context);
    const bool may_have_one = homes_.allowed() && std::has_single_bit(by) && (by & used()) != 0 &&
        (deferred_.contexts() & transport::shm::class_bit(context)) == 0;
    if (may_have_one && home == Homes::nowhere) {
        const auto number = static_cast<std::uint8_t>(std::countr_zero(by));
        wildcards_.move_to(homes_.make(number), context);
        homes_.set(context, number);
        pool_[number].watched = true;
    } else if (!may_have_one && home != Homes::nowhere) {
        wildcards_.move_from(homes_.at(home), context);
        homes_.set(context, Homes::nowhere);
        for_each(used(), [](instance::Instance& instance) { instance.watched = true; });
    }
    return may_have_one;
}

/// Classes that cannot stay at home leave. All instances locked. Throws std::bad_alloc.
void Engine::settle_all() {
    // A class has the number of its first context.
    for (Instances left = homes_.at_home(); left != 0; left &= left - 1)
        settle(static_cast<std::uint32_t>(std::countr_zero(left)));
}

/// The first receive with MPI_ANY_TAG that gets the message and was posted before order `before`, taken out.
/// Instance locked.
core::Request* Engine::take_wildcard(instance::Instance& instance, const match::Envelope& envelope,
                                     std::uint64_t before) noexcept {
    if (homes_.of(envelope.context) == instance.number)
        return homes_.at(instance.number).take_for(envelope, before);
    return wildcards_.any() ? wildcards_.take_for(envelope, before) : nullptr;
}

}  // namespace heddle::p2p

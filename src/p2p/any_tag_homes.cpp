// SPDX-License-Identifier: BSD-3-Clause
/// Receives and probes with MPI_ANY_TAG of communicators with a home: all messages come by one
/// instance (p2p/homes.hpp).

#include <bit>
#include <mutex>

#include "match/queue.hpp"
#include "p2p/any_tag.hpp"
#include "p2p/unexpected.hpp"

namespace heddle::p2p {

AnyTag::Instances AnyTag::likely_instances(const core::Request& request) const noexcept {
    if (request.operation != core::Operation::receive) return instance::all;
    const Instances by = base_.classes.instances(request.context);
    return by != 0 ? by : instance::all;
}

bool AnyTag::is_at_home(std::uint32_t context, instance::LockedInstance instance) const noexcept {
    return homes_.of(context) == instance.number() &&
        base_.classes.instances(context) == Instances{1} << instance.number() &&
        !wildcards_.want_order(context);  // some messages are deferred
}

bool AnyTag::has_home_elsewhere(std::uint32_t context,
                                instance::LockedInstance instance) const noexcept {
    const std::uint8_t home = homes_.of(context);
    return home != Homes::nowhere && home != instance.number();
}

void AnyTag::leave_home(std::uint32_t context) {
    const instance::AllInstances all = base_.lock_all();
    relocate(all, context);
}

bool AnyTag::awaits_order(instance::LockedInstance instance, std::uint32_t context) noexcept {
    if (wildcards_.want_order(context)) return true;
    if (!homes_.is_wild(context)) {
        instance->attention &= ~node::class_bit(context);
        return false;
    }
    return homes_.of(context) != Homes::nowhere && !is_at_home(context, instance);
}

/// Returns false if the receive must be posted with everything locked. Otherwise the receive has
/// got `message`, or has been posted.
bool AnyTag::post_at_home(core::Request& receive, bool in_order, match::Message*& message) {
    const std::uint8_t home = homes_.of(receive.context);
    if (home == Homes::nowhere) return false;
    const instance::InstanceLock held(
        base_.pool.lock(base_.pool[home], receive.context, receive.tag));
    if (!is_at_home(receive.context, held)) return false;
    message = post_here(held, receive, in_order);
    return true;
}

/// Posts at the home of its class. Returns the message that it gets, taken out of its queue, or
/// nullptr if it is posted.
match::Message* AnyTag::post_here(instance::LockedInstance instance, core::Request& receive,
                                  bool in_order) {
    const match::Pattern pattern{receive.context, receive.source, receive.tag};
    match::Message* message = others_.unexpected.find(instance, pattern);
    while (message != nullptr && !others_.unexpected.accept_or_discard(instance, *message))
        message = others_.unexpected.find(instance, pattern);
    if (message != nullptr) {
        others_.unexpected.take(instance, *message);
        match::mark_taken(receive);
        return message;
    }
    receive.order = instance->matcher.raise_order(0) + 1;
    instance->matcher.raise_order(receive.order);
    base_.classes.note_wildcard(receive.context, receive.order);
    receive.synchronous = in_order;  // as Wildcards::append() does
    homes_.at(instance).put(receive);
    instance->watched = true;
    return nullptr;
}

bool AnyTag::cancel(core::Request& receive) noexcept {
    const std::lock_guard guard(
        base_.pool.order_lock());  // so that no class gets or leaves its home
    const std::uint8_t home = homes_.of(receive.context);
    if (home == Homes::nowhere) return wildcards_.cancel(receive);
    const instance::InstanceLock held(base_.pool[home]);
    return homes_.at(held).cancel(receive);
}

/// Has messages of these classes, a bit for each, looked at from now on.
void AnyTag::pay_attention(const instance::AllInstances& all, std::uint64_t classes) noexcept {
    // Also in unused instances: no thread looks there before they are in use.
    all.each_possible([&](instance::LockedInstance instance) { instance->attention |= classes; });
}

void AnyTag::be_wild(const instance::AllInstances& all, std::uint32_t context) noexcept {
    if (homes_.is_wild(context)) return;
    homes_.make_wild(all, context);
    pay_attention(all, node::class_bit(context));
}

/// Gives the context's class a home if it can have one, or has it leave. Returns true if it has
/// one. Throws std::bad_alloc, and has changed nothing then.
bool AnyTag::relocate(const instance::AllInstances& all, std::uint32_t context) {
    const std::uint8_t home = homes_.of(context);
    const Instances by = base_.classes.instances(context);
    const bool may_have_one = homes_.allowed() && std::has_single_bit(by) &&
        (by & base_.pool.used()) != 0 && (deferred_.contexts() & node::class_bit(context)) == 0;
    if (may_have_one && home == Homes::nowhere) {
        const instance::LockedInstance at = all[static_cast<std::size_t>(std::countr_zero(by))];
        wildcards_.move_to(all, homes_.make(at), context);
        homes_.set(all, context, at.number());
        at->watched = true;
    } else if (!may_have_one && home != Homes::nowhere) {
        wildcards_.move_from(all, homes_.at(all[home]), context);
        homes_.set(all, context, Homes::nowhere);
        all.each([](instance::LockedInstance instance) { instance->watched = true; });
    }
    return may_have_one;
}

/// Has classes leave that cannot stay at home. Throws std::bad_alloc.
void AnyTag::relocate_all(const instance::AllInstances& all) {
    // A class has the number of its first context.
    for (Instances left = homes_.at_home(); left != 0; left &= left - 1)
        relocate(all, static_cast<std::uint32_t>(std::countr_zero(left)));
}

/// Takes out the first receive with MPI_ANY_TAG that gets the message and was posted before order
/// `before`.
core::Request* AnyTag::take_for(instance::LockedInstance instance, const match::Envelope& envelope,
                                std::uint64_t before) noexcept {
    if (homes_.of(envelope.context) == instance.number())
        return homes_.at(instance).take_for(envelope, before);
    return wildcards_.any() ? wildcards_.take_for(envelope, before) : nullptr;
}

}  // namespace heddle::p2p

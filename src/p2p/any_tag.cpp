// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/any_tag.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "core/causality.hpp"
#include "match/queue.hpp"
#include "p2p/hot_rings.hpp"
#include "p2p/protocols/protocol.hpp"
#include "p2p/receiver.hpp"
#include "p2p/unexpected.hpp"
#include "tool/recipe.hpp"

namespace heddle::p2p {

AnyTag::AnyTag(Base& base, const Others& others) : base_(base), others_(others) {
    const std::string matcher = tool::Choice<tool::MatcherName>::print(base.settings.matcher);
    wildcards_.select(matcher);
    const bool is_watched = tool::matching_is_watched(base.settings);
    if (is_watched) wildcards_.take_for_granted();
    if (base.features.homes && !is_watched) homes_.allow(matcher);
    // Sequenced messages are taken from rings past the branch for messages that await order.
    for (std::uint32_t context = 0; base.is_sequenced() && context < 64; ++context)
        wildcards_.demand_order(context, +1);
}

/// A scope. At its end, contexts with deferred messages have all messages taken from the rings in
/// order.
class AnyTag::NoteOfDeferred {
public:
    NoteOfDeferred(AnyTag& any_tag, const instance::AllInstances& all) noexcept
        : any_tag_(any_tag), all_(all) {}
    ~NoteOfDeferred() {
        const std::uint64_t contexts = any_tag_.deferred_.contexts();
        any_tag_.wildcards_.order_deferred(all_, contexts);
        // Also in classes without a wildcard: later messages must not overtake deferred ones.
        any_tag_.pay_attention(all_, contexts);
        any_tag_.any_deferred_.store(!any_tag_.deferred_.empty(), relaxed);
    }
    NoteOfDeferred(const NoteOfDeferred&) = delete;
    NoteOfDeferred& operator=(const NoteOfDeferred&) = delete;

private:
    AnyTag& any_tag_;
    const instance::AllInstances& all_;
};

core::Request* AnyTag::match(instance::LockedInstance instance, match::Envelope envelope) noexcept {
    core::Request* receive = instance->matcher.posted_for(envelope);
    const std::uint64_t before = receive == nullptr ? ~std::uint64_t{0} : receive->order;
    if (core::Request* wildcard = take_for(instance, envelope, before))
        receive = wildcard;
    else if (receive != nullptr)
        instance->matcher.take_posted(*receive);
    if (receive == nullptr) return nullptr;
    receive->source = envelope.source;
    receive->tag = envelope.tag;
    return receive;
}

/// Lists the inlets that senders have announced, also in instances not in use yet.
void AnyTag::list_all_rung(const instance::AllInstances& all) {
    auto& rung = base_.mailbox().rung;
    // A message sent before one that has been seen here has been announced, if it had to be.
    if (rung.load(seq_cst) == 0) [[likely]]
        return;
    base_.pool.each(rung.exchange(0, seq_cst), [&](instance::Instance& instance) {
        others_.rings.list_rung(all.key(instance));
    });
}

/// Defers messages that are in the rings, if their stamps are at most `last_stamp`.
void AnyTag::take_out_of_rings(ProgressCall& call, const instance::AllInstances& all,
                               std::uint64_t last_stamp) {
    list_all_rung(all);
    all.each_inlet([&](instance::LockedInstance instance, instance::Inlet& inlet) {
        bool moved = false;
        while (node::Cell* cell = inlet.ring.front()) {
            if (is_control(static_cast<MessageKind>(cell->kind))) {
                others_.receiver.deliver(call, instance, inlet.process, *cell);
            } else if (cell->stamp <= last_stamp) {
                deferred_.reserve();
                deferred_.add(others_.receiver.copy_of({call, inlet.process, *cell, &instance}));
            } else {
                break;
            }
            inlet.ring.pop(*cell);
            moved = true;
        }
        if (moved) others_.rings.after_draining(instance, inlet);
    });
}

/// Returns a ring with a message, other than `besides`. Returns nullptr if there is none.
Ready AnyTag::another_ready(const instance::AllInstances& all, const instance::Inlet* besides) {
    list_all_rung(all);
    Ready found;
    all.each_inlet([&](instance::LockedInstance instance, instance::Inlet& inlet) {
        if (&inlet != besides && inlet.ring.ready()) found = {&instance.instance(), &inlet};
    });
    return found;
}

/// Delivers a message of the program out of its ring if it is the only one that has come. Returns
/// false if there are more. Two passes as in drain_in_order(): one finds the message, the next one
/// finds no other.
bool AnyTag::drain_only(ProgressCall& call, const instance::AllInstances& all) {
    const Ready only = call.left.inlet != nullptr ? call.left : another_ready(all, nullptr);
    if (only.inlet == nullptr) return true;
    const node::Cell* cell = only.inlet->ring.front();
    relocate_all(all);  // the message says by which instances others may come
    if (cell == nullptr || is_control(static_cast<MessageKind>(cell->kind)) ||
        base_.notice_from(only.inlet->process).may_precede(cell->context, cell->stamp) ||
        another_ready(all, only.inlet).inlet != nullptr)
        return false;
    const instance::LockedInstance instance = all.key(*only.instance);
    others_.receiver.deliver(call, instance, only.inlet->process, *cell);
    only.inlet->ring.pop(*cell);
    others_.rings.after_draining(instance, *only.inlet);
    return only.inlet->ring.front() == nullptr;
}

/// Returns whether the sender says that an earlier message of the context is blocked. The sender
/// then rings the bell when that ends.
bool AnyTag::may_be_preceded(const match::Message& message) noexcept {
    if (base_.is_far(message.peer)) return false;
    node::BlockedNotice& notice = base_.notice_from(message.peer);
    const auto ask = [&] { return notice.may_precede(message.envelope.context, message.stamp); };
    if (!ask()) [[likely]]
        return false;
    notice.watch();
    return ask();
}

/// Matches everything that has come in the order in which it was sent.
///
/// Two messages of one thread, or of threads that synchronised, may lie in rings of different
/// instances. When the later one is seen, the earlier one has been published, or its sender says
/// that it is blocked. A pass may already have left the earlier one's ring. So passes follow, up to
/// the latest stamp of the first one, until a pass finds nothing. Each pass first asks which
/// messages are blocked. So the last one finds messages that were published just before that.
void AnyTag::drain_in_order(ProgressCall& call, const instance::AllInstances& all) {
    relocate_all(all);
    if (deferred_.empty() && drain_only(call, all)) [[likely]]
        return;
    const NoteOfDeferred note(*this, all);
    take_out_of_rings(call, all, ~std::uint64_t{0});
    if (deferred_.empty()) return;
    const std::uint64_t latest = deferred_.latest_stamp();
    for (std::size_t before = 0; before != deferred_.size();) {
        before = deferred_.size();
        deferred_.mark([this](const match::Message& message) { return may_be_preceded(message); });
        take_out_of_rings(call, all, latest);
    }
    relocate_all(all);
    wildcards_.counters.deferred.add(deferred_.release([&](match::Message& message) {
        others_.receiver.match_taken_out(call, all[message.instance], message);
    }));
}

void AnyTag::restore_order(ProgressCall& call) {
    const bool were_deferred = any_deferred_.load(relaxed);
    {
        const instance::AllInstances all = base_.lock_all();
        base_.mailbox().withdrawn.store(0, seq_cst);  // before the question is asked again
        drain_in_order(call, all);
    }
    if (!were_deferred) return;
    // Deferred messages were in no queue, so threads that probe have not heard of them.
    others_.unexpected.watchers().tell_all(call);
}

/// Returns the message with the lowest stamp among the first match of each instance.
match::Message* AnyTag::lowest(const instance::AllInstances& all, const match::Pattern& pattern) {
    match::Message* first = nullptr;
    all.each([&](instance::LockedInstance instance) {
        match::Message* found = others_.unexpected.find(instance, pattern);
        if (found != nullptr && (first == nullptr || found->stamp < first->stamp)) first = found;
    });
    return first;
}

/// Returns an accepted message that no receive waited for: the first of its sender.
match::Message* AnyTag::earliest(const instance::AllInstances& all, const match::Pattern& pattern) {
    match::Message* first = lowest(all, pattern);
    // An instance may have the first message of one sender behind a message of another sender.
    if (first == nullptr || pattern.source != match::any_source) return first;
    return lowest(all, {pattern.context, first->envelope.source, match::any_tag});
}

/// Returns the same message once everything that was sent before it has come, too. Defers messages
/// that have come too early.
match::Message* AnyTag::earliest_in_order(ProgressCall& call, const instance::AllInstances& all,
                                          const match::Pattern& pattern) {
    drain_in_order(call, all);
    for (match::Message* first = earliest(all, pattern); first != nullptr;) {
        const match::Envelope envelope = first->envelope;
        if (may_be_preceded(*first) ||
            deferred_.precede(first->peer, envelope.context, first->stamp)) {
            defer_unexpected(all, envelope);
            first = earliest(all, pattern);
            continue;
        }
        // Messages that were blocked until just before the question are in the rings now.
        const std::uint64_t sweeps = others_.unexpected.sweeps();
        drain_in_order(call, all);
        match::Message* now = earliest(all, pattern);
        // It must not be another message at the same address.
        const bool same = now == first && sweeps == others_.unexpected.sweeps();
        if (same && !deferred_.precede(first->peer, envelope.context, first->stamp)) return first;
        first = now;
    }
    return nullptr;
}

/// Defers this sender's messages that are in queues: the first one is too early.
void AnyTag::defer_unexpected(const instance::AllInstances& all, const match::Envelope& first) {
    const NoteOfDeferred note(*this, all);
    all.each([&](instance::LockedInstance instance) {
        const match::Pattern sender{first.context, first.source, match::any_tag};
        while (match::Message* message = instance->matcher.find(sender)) {
            deferred_.reserve();
            others_.unexpected.take(instance, *message);
            deferred_.add(*message);
            wildcards_.counters.deferred.add();
        }
    });
}

core::Request* AnyTag::post(core::Thread& thread, core::Request& receive, bool in_order) {
    receive.wanted_source = receive.source;
    ProgressCall call(thread);
    match::Message* message = nullptr;
    finish_after(call, [&] {
        if (post_at_home(receive, in_order, message)) return;
        const instance::AllInstances all = base_.lock_all();
        be_wild(all, receive.context);
        message = relocate(all, receive.context)
            ? post_here(all[homes_.of(receive.context)], receive, in_order)
            : post_everywhere(call, all, receive, in_order);
    });
    if (message != nullptr) {
        others_.receiver.note_causality(receive, *message);
        others_.receiver.consume_now(thread, receive, *message);
    }
    return &receive;
}

/// Returns the message that the receive gets, taken out of its queue. Returns nullptr if the
/// receive has been posted.
match::Message* AnyTag::post_everywhere(ProgressCall& call, const instance::AllInstances& all,
                                        core::Request& receive, bool in_order) {
    const match::Pattern pattern{receive.context, receive.source, receive.tag};
    if (base_.recording != nullptr) {
        (void)earliest(all, pattern);  // drops messages that were taken back
        base_.recording->post(pattern);
    }
    match::Message* message = nullptr;
    do {
        message = find(call, all, pattern, in_order);
    } while (message != nullptr &&
             !others_.unexpected.accept_or_discard(all[message->instance], *message));
    if (message != nullptr) {
        others_.unexpected.take(all[message->instance], *message);
        match::mark_taken(receive);
        return message;
    }
    receive.order = base_.pool.latest_order() = next_order(all);
    base_.classes.note_wildcard(receive.context, receive.order);
    wildcards_.append(all, receive, in_order);
    wildcards_.counters.any_tag_everywhere.add();
    all.each([](instance::LockedInstance instance) { instance->watched = true; });
    return nullptr;
}

match::Message* AnyTag::find(ProgressCall& call, const instance::AllInstances& all,
                             const match::Pattern& pattern, bool in_order) {
    return in_order ? earliest_in_order(call, all, pattern) : earliest(all, pattern);
}

match::Message* AnyTag::find_anywhere(ProgressCall& call, const instance::AllInstances& all,
                                      const match::Pattern& pattern, bool in_order) {
    be_wild(all, pattern.context);
    relocate(all, pattern.context);
    return find(call, all, pattern, in_order);
}

/// Returns an order above all earlier posts and below all later ones.
std::uint64_t AnyTag::next_order(const instance::AllInstances& all) noexcept {
    std::uint64_t order = base_.pool.latest_order();
    const auto raise = [&](instance::LockedInstance instance) {
        order = instance->matcher.raise_order(order);
    };
    all.each(raise);
    ++order;
    all.each(raise);
    return order;
}

// --- visits of everything ---

void AnyTag::add_to(tool::Values& values) {
    wildcards_.add_to(values);
    homes_.each([&](std::size_t, PostedWildcards& posted) { posted.add_to(values); });
}

void AnyTag::add_to(tool::Values& values, std::uint32_t context) {
    wildcards_.add_to(values, context);
    homes_.each([&](std::size_t number, PostedWildcards& posted) {
        const instance::InstanceLock held(base_.pool[number]);
        posted.searches().add_to(values, context);
    });
}

void AnyTag::forget(std::uint32_t context) {
    wildcards_.forget(context);
    homes_.each([&](std::size_t number, PostedWildcards& posted) {
        const instance::InstanceLock held(base_.pool[number]);
        posted.searches().forget(context);
    });
}

}  // namespace heddle::p2p

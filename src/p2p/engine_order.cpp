// SPDX-License-Identifier: BSD-3-Clause
/// Receives and probes with MPI_ANY_TAG, which look across instances (p2p/wildcards.hpp).

#include <algorithm>
#include <bit>
#include <cassert>
#include <mutex>

#include "core/causality.hpp"
#include "match/queue.hpp"
#include "p2p/all_instances_lock.hpp"

namespace heddle::p2p {

/// In the end, messages of the contexts of which some are deferred are taken from the rings in order.
class Engine::NoteOfDeferred {
public:
    explicit NoteOfDeferred(Engine& engine) noexcept : engine_(engine) {}
    ~NoteOfDeferred() {
        const std::uint64_t contexts = engine_.deferred_.contexts();
        engine_.wildcards_.order_deferred(contexts);
        // Of classes without a wildcard as well: what comes next must not overtake what is deferred.
        engine_.pay_attention(contexts);
        engine_.any_deferred_.store(!engine_.deferred_.empty(), relaxed);
    }
    NoteOfDeferred(const NoteOfDeferred&) = delete;
    NoteOfDeferred& operator=(const NoteOfDeferred&) = delete;

private:
    Engine& engine_;
};

/// Called with the instance's lock held, returns with it held, and has let go of it in between.
void Engine::first_use(instance::Instance& instance) {
    instance.lock.unlock();
    std::lock_guard guard(wildcards_.lock);
    instance.lock.lock();
    mark_used(instance);
}

/// With the wildcard lock and the instance's lock held.
void Engine::mark_used(instance::Instance& instance) {
    if (instance.used) return;
    instance.used = true;
    instance.matcher.raise_order(wildcards_.latest_order);
    used_.fetch_or(Instances{1} << instance.number, release);
}

/// Lists the inlets that senders have announced, of instances not in use yet, too.
void Engine::list_all_rung(const AllInstancesLock& all) {
    auto& rung = node_.mailbox(static_cast<std::size_t>(rank_)).rung;
    // What was sent before anything that has been seen here has been announced, if it was to be.
    if (rung.load(seq_cst) == 0) [[likely]]
        return;
    for_each(rung.exchange(0, seq_cst), [&](instance::Instance& instance) {
        all.include(instance);
        list_rung(instance);
    });
}

/// Defers what is in the rings, as far as its stamps are at most `last_stamp`.
void Engine::take_out_of_rings(ProgressCall& call, const AllInstancesLock& all,
                               std::uint64_t last_stamp) {
    list_all_rung(all);
    each_inlet([&](instance::Instance& instance, instance::Inlet& inlet) {
        bool moved = false;
        while (transport::shm::Cell* cell = inlet.ring.front()) {
            if (is_control(static_cast<MessageKind>(cell->kind))) {
                deliver_control(call, instance, inlet.process, *cell);
            } else if (cell->stamp <= last_stamp) {
                deferred_.reserve();
                deferred_.add(copy_of(call.thread, *cell, inlet.process, instance.number));
            } else {
                break;
            }
            inlet.ring.pop(*cell);
            moved = true;
        }
        if (moved) after_draining(instance, inlet);
    });
}

/// A ring with something in it, besides this one; nullptr: there is none.
Ready Engine::another_ready(const AllInstancesLock& all, const instance::Inlet* besides) {
    list_all_rung(all);
    Ready found;
    each_inlet([&](instance::Instance& instance, instance::Inlet& inlet) {
        if (&inlet != besides && inlet.ring.ready()) found = {&instance, &inlet};
    });
    return found;
}

/// If one message of the program is all that has come, delivers it out of its ring. False: there is more.
/// As drain_in_order(), whose passes it makes: one finds the message, the next nothing else.
bool Engine::drain_only(ProgressCall& call, const AllInstancesLock& all) {
    const Ready only = call.left.inlet != nullptr ? call.left : another_ready(all, nullptr);
    if (only.inlet == nullptr) return true;
    const transport::shm::Cell* cell = only.inlet->ring.front();
    settle_all();  // the message says by which instances others may come
    if (cell == nullptr || is_control(static_cast<MessageKind>(cell->kind)) ||
        notice_from(only.inlet->process).may_precede(cell->context, cell->stamp) ||
        another_ready(all, only.inlet).inlet != nullptr)
        return false;
    deliver(call, *only.instance, *only.inlet, *cell);
    only.inlet->ring.pop(*cell);
    after_draining(*only.instance, *only.inlet);
    return only.inlet->ring.front() == nullptr;
}

/// Whether the sender says that something earlier of the same context is blocked; it then rings the bell
/// when that is not so any more.
bool Engine::may_be_preceded(const match::Message& message) noexcept {
    if (is_far(message.peer)) return false;
    transport::shm::BlockedNotice& notice = notice_from(message.peer);
    const auto ask = [&] { return notice.may_precede(message.envelope.context, message.stamp); };
    if (!ask()) [[likely]]
        return false;
    notice.watch();
    return ask();
}

/// Matches everything that has come in the order in which it was sent. All instances locked.
///
/// Two messages of one thread, or of threads that synchronised, may lie in rings of different
/// instances. When the later one is seen, the earlier one has been published, or its sender says that
/// it is blocked. A pass may already have left the earlier one's ring: hence passes, up to the
/// latest stamp of the first, until one finds nothing. Before each of them it is asked what is blocked, so
/// that the last one finds what was published just before that.
void Engine::drain_in_order(ProgressCall& call, const AllInstancesLock& all) {
    settle_all();
    if (deferred_.empty() && drain_only(call, all)) [[likely]]
        return;
    const NoteOfDeferred note(*this);
    take_out_of_rings(call, all, ~std::uint64_t{0});
    if (deferred_.empty()) return;
    const std::uint64_t latest = deferred_.latest_stamp();
    for (std::size_t before = 0; before != deferred_.size();) {
        before = deferred_.size();
        deferred_.mark([this](const match::Message& message) { return may_be_preceded(message); });
        take_out_of_rings(call, all, latest);
    }
    settle_all();
    wildcards_.counters.deferred.add(deferred_.release(
        [&](match::Message& message) { match_taken_out(call, pool_[message.instance], message); }));
}

/// A message that was taken out of its ring in turn. Instance locked.
void Engine::match_taken_out(ProgressCall& call, instance::Instance& instance,
                             match::Message& message) {
    assert(is_sequenced() ||
           !deferred_.precede(message.peer, message.envelope.context, message.stamp));
    make_room(call.pulls);
    if (!offers_.hold(message)) return drop(message);
    core::Request* receive = match(instance, message.envelope);
    offers_.decide(message, receive != nullptr);
    if (receive != nullptr)
        consume(call, *receive, message);
    else
        keep_offered(call, instance, message);
}

void Engine::restore_order(ProgressCall& call) {
    if (is_sequenced()) return match_set_aside(call);
    const bool were_deferred = any_deferred_.load(relaxed);
    {
        const AllInstancesLock all(*this);
        node_.mailbox(static_cast<std::size_t>(rank_))
            .withdrawn.store(0, seq_cst);  // before it is asked again
        drain_in_order(call, all);
    }
    if (!were_deferred) return;
    // What was deferred was in no queue: those who probe have not heard of it.
    watchers_.tell_all(call);
}

/// The message with the lowest stamp among those that each instance finds first. All instances locked.
match::Message* Engine::lowest(const match::Pattern& pattern) {
    match::Message* first = nullptr;
    for_each(used(), [&](instance::Instance& instance) {
        match::Message* found = find_kept(instance, pattern);
        if (found != nullptr && (first == nullptr || found->stamp < first->stamp)) first = found;
    });
    return first;
}

/// An accepted message that no receive waited for, the first of its sender. All instances locked.
match::Message* Engine::earliest(const match::Pattern& pattern) {
    match::Message* first = lowest(pattern);
    // In an instance, what one sender sent first may have arrived after a message of another sender.
    if (first == nullptr || pattern.source != match::any_source) return first;
    return lowest({pattern.context, first->envelope.source, match::any_tag});
}

/// The same, when all that was sent before it has come, too. What has not come in its turn is deferred.
/// All instances locked.
match::Message* Engine::earliest_in_order(ProgressCall& call, const AllInstancesLock& all,
                                          const match::Pattern& pattern) {
    drain_in_order(call, all);
    for (match::Message* first = earliest(pattern); first != nullptr;) {
        const match::Envelope envelope = first->envelope;
        if (may_be_preceded(*first) ||
            deferred_.precede(first->peer, envelope.context, first->stamp)) {
            defer_unexpected(envelope);
            first = earliest(pattern);
            continue;
        }
        // What was blocked until just before the question is in the rings now.
        const std::uint64_t sweeps = sweeps_.load(relaxed);
        drain_in_order(call, all);
        match::Message* now = earliest(pattern);
        const bool same = now == first && sweeps == sweeps_.load(relaxed);  // not another one there
        if (same && !deferred_.precede(first->peer, envelope.context, first->stamp)) return first;
        first = now;
    }
    return nullptr;
}

/// Takes the messages of this sender out of the queues, the first of which is too early.
void Engine::defer_unexpected(const match::Envelope& first) {
    const NoteOfDeferred note(*this);
    for_each(used(), [&](instance::Instance& instance) {
        const match::Pattern sender{first.context, first.source, match::any_tag};
        while (match::Message* message = instance.matcher.find(sender)) {
            deferred_.reserve();
            take(instance, *message);
            deferred_.add(*message);
            wildcards_.counters.deferred.add();
        }
    });
}

/// A receive that belongs to no instance, or a recipe of the laboratory.
core::Request* Engine::post_slowly(core::Thread& thread, core::Request& receive,
                                   bool allow_overtaking) {
    receive.any_tag = receive.tag == match::any_tag;
    if (platform::races_are_sought()) core::causality::posted(receive);
    if (receive.any_tag) return post_any_tag(thread, receive, !allow_overtaking && !is_sequenced());
    return post_exactly(thread, receive);
}

core::Request* Engine::post_any_tag(core::Thread& thread, core::Request& receive, bool in_order) {
    ProgressCall call(thread);
    const match::Pattern pattern{receive.context, receive.source, receive.tag};
    match::Message* message = nullptr;
    finish_after(call, [&] {
        if (post_at_home(receive, in_order, message)) return;
        const AllInstancesLock all(*this);
        be_wild(receive.context);
        if (settle(receive.context)) {
            message = post_here(pool_[homes_.of(receive.context)], receive, in_order);
            return;
        }
        if (recording_ != nullptr) {
            (void)earliest(pattern);  // what has been taken back goes first
            recording_->post(pattern);
        }
        do {
            message = in_order ? earliest_in_order(call, all, pattern) : earliest(pattern);
        } while (message != nullptr && !accept_or_discard(*message));
        if (message != nullptr) {
            take(pool_[message->instance], *message);
            match::mark_taken(receive);
        } else {
            receive.order = wildcards_.latest_order = next_order();
            classes_.note_wildcard(receive.context, receive.order);
            wildcards_.append(receive, in_order);
            wildcards_.counters.any_tag_everywhere.add();
            for_each(used(), [](instance::Instance& instance) { instance.watched = true; });
        }
    });
    if (message != nullptr) {
        note_causality(receive, *message);
        consume_now(thread, receive, *message);
    }
    return &receive;
}

/// An order above all that was posted, and below all that will be. All instances locked.
std::uint64_t Engine::next_order() noexcept {
    std::uint64_t order = wildcards_.latest_order;
    const auto raise = [&](instance::Instance& instance) {
        order = instance.matcher.raise_order(order);
    };
    for_each(used(), raise);
    ++order;
    for_each(used(), raise);
    return order;
}

/// The first message that the pattern accepts; taken out of its queue if `take`.
match::Message* Engine::search(core::Thread& thread, const match::Pattern& pattern, bool in_order,
                               bool take, core::Outcome& found) {
    poll_network(thread);
    if (is_sequenced()) {  // it may come by any instance, and has its place in the order anyway
        poll_in_laboratory(thread);
        in_order = false;
    }
    ProgressCall call(thread);
    match::Message* message = nullptr;
    const auto look = [&](const auto& find) {
        do {
            message = find();
        } while (take && message != nullptr && !accept_or_discard(*message));
        if (message == nullptr) return;
        if (message->peer != rank_)
            core::causality::after_other_processes();
        else
            core::causality::after(reinterpret_cast<const void*>(message->sender));
        found = {message->envelope.source, message->envelope.tag, 0, false, message->length};
        if (!take) return;
        if (recording_ != nullptr) recording_->take(pattern);
        this->take(pool_[message->instance], *message);
    };
    const auto look_in = [&](instance::Instance& instance, auto&& may) {
        lock(instance, pattern);
        const std::lock_guard held(instance.lock, std::adopt_lock);
        if (!may(instance)) return false;
        drain(call, instance);
        if (!may(instance)) return false;
        look([&] { return find_kept(instance, pattern); });
        return true;
    };
    finish_after(call, [&] {
        if (pattern.tag == match::any_tag) {
            const std::uint8_t home = homes_.of(pattern.context);
            if (home != Homes::nowhere && look_in(pool_[home], [&](const auto& instance) {
                    return is_at_home(pattern.context, instance);
                }))
                return;
            const AllInstancesLock all(*this);
            be_wild(pattern.context);
            settle(pattern.context);
            return look([&] {
                return in_order ? earliest_in_order(call, all, pattern) : earliest(pattern);
            });
        }
        look_in(pool_.home(pattern.context, pattern.tag), [](const auto&) { return true; });
    });
    return message;
}

bool Engine::probe(core::Thread& thread, const match::Pattern& pattern, bool in_order,
                   core::Outcome& found) {
    return search(thread, pattern, in_order, false, found) != nullptr;
}

match::Message* Engine::take_probed(core::Thread& thread, const match::Pattern& pattern,
                                    bool in_order, core::Outcome& found) {
    match::Message* message = search(thread, pattern, in_order, true, found);
    if (message != nullptr) message->kind.store(core::Kind::message, relaxed);
    return message;
}

}  // namespace heddle::p2p

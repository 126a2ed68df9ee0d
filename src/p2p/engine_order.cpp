// SPDX-License-Identifier: BSD-3-Clause
/// Receives and probes with MPI_ANY_TAG, which look across instances (p2p/wildcards.hpp).

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <utility>

#include "match/queue.hpp"
#include "p2p/everything.hpp"

namespace heddle::p2p {

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
void Engine::list_all_rung(const Everything& everything) {
    auto& rung = node_.door(static_cast<std::size_t>(rank_)).rung;
    // What was sent before anything that has been seen here has been announced, if it was to be.
    if (rung.load(seq_cst) == 0) [[likely]] return;
    for_each(rung.exchange(0, seq_cst), [&](instance::Instance& instance) {
        everything.include(instance);
        list_rung(instance);
    });
}

/// Takes messages out of the rings, as far as their stamps are at most `last_stamp`.
void Engine::stage(Turn& turn, const Everything& everything, std::vector<match::Message*>& staged,
                   std::uint64_t last_stamp) {
    list_all_rung(everything);
    each_inlet([&](instance::Instance& instance, instance::Inlet& inlet) {
        bool moved = false;
        while (transport::shm::Cell* cell = inlet.ring.front()) {
            if (is_control(static_cast<Kind>(cell->kind))) deliver_control(turn, instance, inlet.process, *cell);
            else if (cell->stamp > last_stamp) break;
            else staged.push_back(&copy_of(*cell, inlet.process, instance.number));
            inlet.ring.pop(*cell);
            moved = true;
        }
        if (moved) after_draining(instance, inlet);
    });
}

/// A ring with something in it, besides this one; nullptr: there is none.
Ready Engine::another_ready(const Everything& everything, const instance::Inlet* besides) {
    list_all_rung(everything);
    Ready found;
    each_inlet([&](instance::Instance& instance, instance::Inlet& inlet) {
        if (&inlet != besides && inlet.ring.ready()) found = {&instance, &inlet};
    });
    return found;
}

/// If one message of the program is all that has come, delivers it out of its ring. False: there is more.
/// As drain_in_order(), whose passes it makes: one finds the message, the next nothing else.
bool Engine::drain_only(Turn& turn, const Everything& everything) {
    const Ready only = turn.left.inlet != nullptr ? turn.left : another_ready(everything, nullptr);
    if (only.inlet == nullptr) return true;
    const transport::shm::Cell* cell = only.inlet->ring.front();
    if (cell == nullptr || is_control(static_cast<Kind>(cell->kind)) ||
        held_back(only.inlet->process, cell->context, cell->stamp) ||
        another_ready(everything, only.inlet).inlet != nullptr)
        return false;
    deliver(turn, *only.instance, *only.inlet, *cell);
    only.inlet->ring.pop(*cell);
    after_draining(*only.instance, *only.inlet);
    return only.inlet->ring.front() == nullptr;
}

/// Matches everything that has come in the order in which it was sent. Everything locked.
///
/// Two messages of one thread, or of threads that synchronised, may lie in rings of different
/// instances. When the later one is seen, the earlier one has been published, or its sender says that
/// it is held back. A pass may already have left the earlier one's ring: hence passes, up to the
/// latest stamp of the first, until one finds nothing. Then it is asked what is held back, and one more
/// pass finds what was published just before that. Messages that are later than one held back are put
/// off.
void Engine::drain_in_order(Turn& turn, const Everything& everything) {
    if (put_off_.empty() && drain_only(turn, everything)) [[likely]] return;
    std::vector<match::Message*> staged;
    staged.swap(put_off_);
    for (const match::Message* message : staged) wildcards_.demand_order(message->envelope.context, -1);
    stage(turn, everything, staged, ~std::uint64_t{0});
    if (staged.empty()) return;
    const auto by_stamp = [](const match::Message* a, const match::Message* b) {
        return a->stamp < b->stamp;
    };
    const std::uint64_t latest = (*std::max_element(staged.begin(), staged.end(), by_stamp))->stamp;
    std::vector<bool> early;
    for (std::size_t before = 0; before != staged.size();) {
        before = staged.size();
        early.clear();
        for (const match::Message* message : staged) early.push_back(held_back(*message));
        stage(turn, everything, staged, latest);
    }
    for (std::size_t i = 0; i < staged.size(); ++i)
        if (early[i]) put_off_.push_back(std::exchange(staged[i], nullptr));
    std::erase(staged, nullptr);
    put_off_later(staged);
    std::stable_sort(staged.begin(), staged.end(), by_stamp);
    for (match::Message* message : staged) {
        match_staged(turn, pool_[message->instance], *message);
    }
}

/// A message that was taken out of its ring in turn. Instance locked.
void Engine::match_staged(Turn& turn, instance::Instance& instance, match::Message& message) {
    if (core::Request* receive = match(instance, message.envelope)) consume(turn, *receive, message);
    else keep(turn, instance, message);
}

/// What is held back may change while it is asked for one message after the other: puts those off,
/// too, that were sent by the same process after one that is put off.
void Engine::put_off_later(std::vector<match::Message*>& staged) {
    if (put_off_.empty()) return;
    std::map<std::int32_t, std::uint64_t> first;
    for (const match::Message* message : put_off_) {
        const auto [at, added] = first.try_emplace(message->peer, message->stamp);
        if (!added) at->second = std::min(at->second, message->stamp);
    }
    std::erase_if(staged, [&](match::Message* message) {
        const auto at = first.find(message->peer);
        if (at == first.end() || message->stamp < at->second) return false;
        put_off_.push_back(message);
        return true;
    });
    // Later messages of these contexts must not pass them by.
    for (const match::Message* message : put_off_) wildcards_.demand_order(message->envelope.context, +1);
    wildcards_.counters.put_off.add(put_off_.size());
    look_again_.store(true, relaxed);
}

void Engine::restore_order(Turn& turn) {
    if (is_sequenced()) return match_set_aside(turn);
    bool look_again = false;
    {
        const Everything everything(*this);
        look_again = look_again_.load(relaxed);
        if (look_again) look_again_.store(false, relaxed);
        drain_in_order(turn, everything);
    }
    if (!look_again) return;
    // What was put off is in no queue: those who probe have not heard of it.
    std::lock_guard watchers(watchers_lock_);
    for (const Watcher& watcher : watchers_) turn.wake(*watcher.slot);
}

/// The message with the lowest stamp among those that each instance finds first. Everything locked.
match::Message* Engine::lowest(const match::Pattern& pattern) {
    match::Message* first = nullptr;
    for_each(used(), [&](instance::Instance& instance) {
        match::Message* found = instance.matcher.find(pattern);
        if (found != nullptr && (first == nullptr || found->stamp < first->stamp)) first = found;
    });
    return first;
}

/// An accepted message that no receive waited for, the first of its sender. Everything locked.
match::Message* Engine::earliest(const match::Pattern& pattern) {
    match::Message* first = lowest(pattern);
    // In an instance, what one sender sent first may have arrived after a message of another sender.
    if (first == nullptr || pattern.source != match::any_source) return first;
    return lowest({pattern.context, first->envelope.source, match::any_tag});
}

/// The same, when all that was sent before it has come, too. Messages that are later than one held
/// back are put off meanwhile, to be matched in their turn. Everything locked.
match::Message* Engine::earliest_in_order(Turn& turn, const Everything& everything,
                                          const match::Pattern& pattern) {
    drain_in_order(turn, everything);
    for (match::Message* first = earliest(pattern); first != nullptr;) {
        if (held_back(*first)) {
            put_off_kept(match::Envelope(first->envelope));
            first = earliest(pattern);
            continue;
        }
        // What was held back until just before the question is in the rings now.
        drain_in_order(turn, everything);
        match::Message* now = earliest(pattern);
        if (now == first) return first;
        first = now;
    }
    return nullptr;
}

/// Takes the messages of this sender out of the queues, the first of which is too early.
void Engine::put_off_kept(const match::Envelope& first) {
    for_each(used(), [&](instance::Instance& instance) {
        const match::Pattern sender{first.context, first.source, match::any_tag};
        while (match::Message* message = instance.matcher.find(sender)) {
            take(instance, *message);
            wildcards_.demand_order(message->envelope.context, +1);
            put_off_.push_back(message);
            wildcards_.counters.put_off.add();
        }
    });
    look_again_.store(true, relaxed);
}

/// A receive that belongs to no instance, or a recipe of the laboratory.
core::Request* Engine::post_slowly(core::Thread& thread, core::Request& receive, bool allow_overtaking) {
    receive.any_tag = receive.tag == match::any_tag;
    if (receive.any_tag) return post_any_tag(thread, receive, !allow_overtaking && !is_sequenced());
    return post_exactly(thread, receive);
}

core::Request* Engine::post_any_tag(core::Thread& thread, core::Request& receive, bool in_order) {
    Turn turn(thread);
    const match::Pattern pattern{receive.context, receive.source, receive.tag};
    match::Message* message = nullptr;
    {
        const Everything everything(*this);
        if (recording_ != nullptr) recording_->post(pattern);
        message = in_order ? earliest_in_order(turn, everything, pattern) : earliest(pattern);
        if (message != nullptr) {
            take(pool_[message->instance], *message);
            match::mark_taken(receive);
        } else {
            receive.order = wildcards_.latest_order = next_order();
            wildcards_.append(receive, in_order);
        }
    }
    if (message != nullptr) consume(turn, receive, *message);
    finish(turn);
    return &receive;
}

/// An order above all that was posted, and below all that will be. Everything locked.
std::uint64_t Engine::next_order() noexcept {
    std::uint64_t order = wildcards_.latest_order;
    const auto raise = [&](instance::Instance& instance) { order = instance.matcher.raise_order(order); };
    for_each(used(), raise);
    ++order;
    for_each(used(), raise);
    return order;
}

/// The first message that the pattern accepts; taken out of its queue if `take`.
match::Message* Engine::search(core::Thread& thread, const match::Pattern& pattern, bool in_order,
                               bool take, core::Outcome& found) {
    if (is_sequenced()) {  // it may come by any instance, and has its place in the order anyway
        poll_in_laboratory(thread);
        in_order = false;
    }
    Turn turn(thread);
    match::Message* message = nullptr;
    const auto look = [&] {
        if (message == nullptr) return;
        found = {message->envelope.source, message->envelope.tag, 0, false, message->length};
        if (!take) return;
        if (recording_ != nullptr) recording_->take(pattern);
        this->take(pool_[message->instance], *message);
    };
    if (pattern.tag == match::any_tag) {
        const Everything everything(*this);
        message = in_order ? earliest_in_order(turn, everything, pattern) : earliest(pattern);
        look();
    } else {
        instance::Instance& instance = pool_.home(pattern.context, pattern.tag);
        lock(instance, pattern);
        drain(turn, instance);
        message = instance.matcher.find(pattern);
        look();
        instance.lock.unlock();
    }
    finish(turn);
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

void Engine::watch(const match::Pattern& pattern, sync::Slot& slot) {
    std::lock_guard guard(watchers_lock_);
    watchers_.push_back({pattern, &slot});
    watching_.store(static_cast<std::uint32_t>(watchers_.size()), relaxed);
}

void Engine::unwatch(sync::Slot& slot) {
    std::lock_guard guard(watchers_lock_);
    std::erase_if(watchers_, [&](const Watcher& watcher) { return watcher.slot == &slot; });
    watching_.store(static_cast<std::uint32_t>(watchers_.size()), relaxed);
}

}  // namespace heddle::p2p

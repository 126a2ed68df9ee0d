// SPDX-License-Identifier: BSD-3-Clause
/// Receives and probes with MPI_ANY_TAG, which look across instances (p2p/wildcards.hpp).

#include <algorithm>
#include <bit>
#include <mutex>

#include "p2p/engine.hpp"

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

/// With the wildcard lock held, so that no instance comes into use meanwhile.
void Engine::lock_all() {
    for_each(used(), [](instance::Instance& instance) { instance.lock.lock(); });
}

void Engine::unlock_all() {
    for_each(used(), [](instance::Instance& instance) { instance.lock.unlock(); });
}

/// Lists the inlets that senders have announced, of instances not in use yet, too. Everything locked.
void Engine::list_all_rung() {
    auto& rung = node_.door(static_cast<std::size_t>(rank_)).rung;
    for_each(rung.exchange(0, seq_cst), [&](instance::Instance& instance) {
        if (!instance.used) {
            instance.lock.lock();
            mark_used(instance);
        }
        list_rung(instance);
    });
}

/// Takes messages out of the rings, as far as their stamps are at most `last_stamp`. Everything locked.
void Engine::stage(Turn& turn, std::vector<match::Message*>& staged, std::uint64_t last_stamp) {
    list_all_rung();
    for_each(used(), [&](instance::Instance& instance) {
        const std::uint32_t count = instance.polled_count.load(relaxed);
        for (std::uint32_t i = 0; i < count; ++i) {
            instance::Inlet& inlet = *instance.polled[i].load(relaxed);
            bool moved = false;
            while (transport::shm::Cell* cell = inlet.ring.front()) {
                if (is_control(static_cast<Kind>(cell->kind))) deliver_control(turn, instance, *cell);
                else if (cell->stamp > last_stamp) break;
                else if (held_back(inlet.process, cell->context, cell->stamp)) break;
                else staged.push_back(&copy_of(*cell, inlet.process, instance.number));
                inlet.ring.pop(*cell);
                moved = true;
            }
            if (moved) after_draining(instance, inlet);
        }
    });
}

/// Matches everything that has come in the order in which it was sent. Everything locked.
///
/// Two messages of one thread, or of threads that synchronised, may lie in rings of different
/// instances. When the later one is seen, the earlier one has been published, but may have been
/// missed by a pass that had already been at its ring: hence more passes, up to the latest stamp of
/// the first, until one finds nothing. What is left in the rings then was not sent before anything
/// that was staged.
void Engine::drain_in_order(Turn& turn) {
    std::vector<match::Message*> staged;
    stage(turn, staged, ~std::uint64_t{0});
    if (staged.empty()) return;
    const auto by_stamp = [](const match::Message* a, const match::Message* b) {
        return a->stamp < b->stamp;
    };
    const std::uint64_t latest = (*std::max_element(staged.begin(), staged.end(), by_stamp))->stamp;
    for (std::size_t before = 0; before != staged.size();) {
        before = staged.size();
        stage(turn, staged, latest);
    }
    std::stable_sort(staged.begin(), staged.end(), by_stamp);
    for (match::Message* message : staged) {
        instance::Instance& instance = pool_[message->instance];
        if (core::Request* receive = match(instance, message->envelope)) consume(turn, *receive, *message);
        else keep(turn, instance, *message);
    }
}

void Engine::restore_order(Turn& turn) {
    std::lock_guard guard(wildcards_.lock);
    lock_all();
    drain_in_order(turn);
    if (look_again_.load(relaxed)) match_late(turn);
    unlock_all();
}

/// The accepted message that was sent first, of those that no receive waited for; none as long as an
/// earlier one from the same process may still come. Everything locked.
match::Message* Engine::earliest(const match::Pattern& pattern) {
    match::Message* first = nullptr;
    for_each(used(), [&](instance::Instance& instance) {
        match::Message* found = instance.matcher.find(pattern);
        if (found == nullptr || (first != nullptr && first->stamp < found->stamp)) return;
        if (held_back(found->peer, found->envelope.context, found->stamp)) look_again_.store(true, relaxed);
        else first = found;
    });
    return first;
}

/// Gives wildcards the messages that earliest() passed over when they were posted, once nothing is
/// held back any more. Those who probe look again for themselves. Everything locked.
void Engine::match_late(Turn& turn) {
    look_again_.store(false, relaxed);
    wildcards_.take_if([&](core::Request& receive) {
        match::Message* message = earliest({receive.context, receive.source, match::any_tag});
        if (message == nullptr) return false;
        pool_[message->instance].matcher.take(*message);
        consume(turn, receive, *message);
        return true;
    });
    std::lock_guard guard(watchers_lock_);
    for (const Watcher& watcher : watchers_) turn.wake(*watcher.slot);
}

core::Request* Engine::post_any_tag(core::Thread& thread, core::Request& receive, bool in_order) {
    Turn turn(thread);
    wildcards_.lock.lock();
    lock_all();
    if (in_order) drain_in_order(turn);
    match::Message* message = earliest({receive.context, receive.source, receive.tag});
    if (message != nullptr) {
        pool_[message->instance].matcher.take(*message);
    } else {
        std::uint64_t order = wildcards_.latest_order;
        const auto raise = [&](instance::Instance& i) { order = i.matcher.raise_order(order); };
        for_each(used(), raise);
        receive.order = ++order;
        wildcards_.latest_order = order;
        for_each(used(), raise);
        wildcards_.append(receive, in_order);
    }
    unlock_all();
    wildcards_.lock.unlock();
    if (message != nullptr) consume(turn, receive, *message);
    finish(turn);
    return &receive;
}

/// The first message that the pattern accepts; taken out of its queue if `take`.
match::Message* Engine::search(core::Thread& thread, const match::Pattern& pattern, bool in_order,
                               bool take, core::Outcome& found) {
    Turn turn(thread);
    match::Message* message = nullptr;
    const auto look = [&] {
        if (message == nullptr) return;
        found = {message->envelope.source, message->envelope.tag, 0, false, message->length};
        if (take) pool_[message->instance].matcher.take(*message);
    };
    if (pattern.tag == match::any_tag) {
        std::lock_guard guard(wildcards_.lock);
        lock_all();
        if (in_order) drain_in_order(turn);
        message = earliest(pattern);
        look();
        unlock_all();
    } else {
        instance::Instance& instance = pool_.of(pattern.context, pattern.tag);
        lock(instance);
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

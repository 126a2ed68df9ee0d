// SPDX-License-Identifier: BSD-3-Clause
/// Sending, matching and making progress in recipes of the laboratory (p2p/laboratory.hpp).

#include <bit>
#include <utility>

#include "p2p/engine.hpp"

namespace heddle::p2p {

core::Request* Engine::send_in_laboratory(core::Thread& thread, const Outbound& message, bool synchronous) {
    instance::Instance& home = pool_.home(message.envelope.context, message.envelope.tag);
    if (!laboratory_->sequenced || message.process == rank_)
        return start_send_by(thread, home, message, synchronous, 0);
    // The number before the instance: who takes both has them in the order of its sends.
    const std::uint64_t number = laboratory_->take_number(home.number, message.process);
    return start_send_by(thread, pool_[laboratory_->choose(thread)], message, synchronous, number);
}

core::Request* Engine::post_in_laboratory(core::Thread& thread, core::Request& receive) {
    instance::Instance& home = pool_.home(receive.context, receive.tag);
    receive.instance = home.number;
    lock(home);
    match::Message* message = home.matcher.post(receive, {receive.context, receive.source, receive.tag});
    home.lock.unlock();
    if (message != nullptr) consume_now(thread, receive, *message);
    return &receive;
}

/// Takes a message out of a ring, to be matched at its home; false if the ring has to be left as it is.
/// The instance of the ring is locked.
bool Engine::set_aside(Turn& turn, instance::Instance& instance, std::int32_t process,
                       const transport::shm::Cell& cell) {
    if (!is_sequenced()) return false;
    core::Thread& thread = turn.thread;
    match::Message& message = copy_of(cell, process, instance.number);
    message.next = nullptr;
    (thread.set_aside == nullptr ? thread.set_aside : thread.last_set_aside->next) = &message;
    thread.last_set_aside = &message;
    return true;
}

/// No lock is held.
void Engine::match_set_aside(Turn& turn) {
    for (match::Message* next = std::exchange(turn.thread.set_aside, nullptr); next != nullptr;) {
        match::Message& message = *std::exchange(next, next->next);
        instance::Instance& home = pool_.home(message.envelope.context, message.envelope.tag);
        lock(home);
        match_in_sequence(turn, home, message);
        home.lock.unlock();
    }
}

/// Also what another thread would look at next.
void Engine::match_all_that_came(Turn& turn) {
    answer_door(turn);
    for_each(used(), [&](instance::Instance& instance) {
        instance.lock.lock();
        drain(turn, instance);
        instance.lock.unlock();
    });
    finish(turn);
}

/// The message, and those that have waited for it. Its home is locked.
void Engine::match_in_sequence(Turn& turn, instance::Instance& home, match::Message& message) {
    Sequence& sequence = laboratory_->incoming(home.number, message.peer);
    if (message.stamp != sequence.next) {
        sequence.early.emplace(message.stamp, &message);
        return laboratory_->counters(home.number).out_of_sequence.add();
    }
    match_kept_back(turn, home, message);
    auto& early = sequence.early;
    for (++sequence.next; !early.empty() && early.begin()->first == sequence.next; ++sequence.next)
        match_kept_back(turn, home, *early.extract(early.begin()).mapped());
}

void Engine::match_kept_back(Turn& turn, instance::Instance& home, match::Message& message) {
    message.instance = home.number;
    match::note_posted(home.matcher.counters);
    if (core::Request* receive = match(home, message.envelope)) consume(turn, *receive, message);
    else keep(turn, home, message);
}

/// P1, algorithm 2: the thread's own instance first, then the others in turn until one has something.
/// What threads leave behind that have ended is found in this way, too.
bool Engine::poll_in_laboratory(core::Thread& thread) {
    if (laboratory_->serial && !laboratory_->progress.try_lock()) return false;
    const std::size_t own = laboratory_->own(thread);
    const Instances others = (used() | backlogged()) & ~(Instances{1} << own);
    bool moved = poll(thread, Instances{1} << own);
    for (Instances left = std::rotr(others, static_cast<int>(own)); left != 0 && !moved; left &= left - 1)
        moved = poll(thread, std::rotl(left & (~left + 1), static_cast<int>(own)));
    if (!moved) poll_all(thread);
    if (laboratory_->serial) laboratory_->progress.unlock();
    return moved;
}

}  // namespace heddle::p2p

// SPDX-License-Identifier: BSD-3-Clause
/// Sends, matching and progress in recipes of the laboratory (p2p/laboratory/laboratory.hpp).

#include <bit>
#include <utility>

#include "objects/communicator.hpp"
#include "p2p/backlog.hpp"
#include "p2p/laboratory/recipes.hpp"
#include "p2p/polling.hpp"
#include "p2p/receiver.hpp"

#include "p2p/protocols/all.hpp"
#include "p2p/sender.hpp"
#include "platform/tick_rate.hpp"
#include "sync/locks/sections.hpp"

namespace heddle::p2p {

using sync::locks::InSection;
using sync::locks::Path;
using sync::locks::Section;

namespace {

/// Keeps work put off while it lives. That work may want sections of its own.
class SectionWithoutWork {
public:
    SectionWithoutWork(core::Thread& thread, sync::locks::Visitor* visitor, Section section,
                       std::size_t object)
        : thread_(thread),
          working_(std::exchange(thread.working, true)),
          section_(visitor, section, object) {}
    ~SectionWithoutWork() { thread_.working = working_; }
    SectionWithoutWork(const SectionWithoutWork&) = delete;
    SectionWithoutWork& operator=(const SectionWithoutWork&) = delete;

private:
    core::Thread& thread_;
    const bool working_;
    InSection section_;
};

/// Returns false for messages of collectives, which have a context of their own.
bool may_overtake(const Outbound& message) noexcept {
    return message.communicator != nullptr && message.communicator->hints.allow_overtaking &&
        message.communicator->context == message.envelope.context;
}

}  // namespace

/// Posts an eager message if there is room for it. In the section of the outbox.
Post Recipes::post_in_section(core::Thread& thread, instance::Instance& way,
                              const Outbound& message, std::uint64_t number) {
    const InSection section(thread.visitor, Section::outbox, way.number());
    others_.sender.open_channel(thread, way, message.process);
    return others_.sender.post(thread, way, message, {}, base_.stamps.numbered(number));
}

/// Starts a send in the section of the outbox.
core::Request* Recipes::start_in_section(core::Thread& thread, instance::Instance& way,
                                         const Outbound& message, bool synchronous,
                                         std::uint64_t number) {
    core::Request* send = nullptr;
    {
        const SectionWithoutWork section(thread, thread.visitor, Section::outbox, way.number());
        send = others_.sender.start_by(thread, way, message, synchronous, number);
    }
    ProgressCall call(thread);
    finish(call);
    return send;
}

core::Request* Recipes::send(core::Thread& thread, const Outbound& message, Sending how) {
    instance::Instance& home = base_.pool.home(message.envelope.context, message.envelope.tag);
    std::uint64_t number = 0;
    instance::Instance* way = &home;
    if (base_.laboratory->sequenced && message.process != base_.rank) {
        // The number before the instance: a thread that takes both has them in the order of its
        // sends.
        number = may_overtake(message)
            ? in_no_sequence
            : base_.laboratory->take_number(home.number(), message.process);
        way = &base_.pool[base_.laboratory->choose(thread)];
    }
    if (how != Sending::synchronous && message.process != base_.rank &&
        message.bytes <= base_.settings.eager_limit) {
        if (how == Sending::nonblocking && thread.visitor != nullptr)
            return send_with_request(thread, message, *way, number);
        if (post_in_section(thread, *way, message, number) == Post::done)
            return &base_.requests.completed_send();
    }
    return start_in_section(thread, *way, message, how == Sending::synchronous, number);
}

sync::locks::Visitor* Recipes::visitor_for(core::Thread& thread) {
    return base_.laboratory != nullptr ? base_.laboratory->visitor_for(thread) : nullptr;
}

std::size_t Recipes::choose_instance(const core::Thread& thread, std::uint32_t context) noexcept {
    return base_.laboratory->sequenced ? base_.laboratory->choose(thread)
                                       : base_.pool.home_of(context, 0);
}

/// Sends without blocking as P3 does (section 5.3). It makes a request even if the message leaves
/// at once, and holds a reference to the communicator meanwhile. Predefined datatypes are never
/// freed, and not counted.
core::Request* Recipes::send_with_request(core::Thread& thread, const Outbound& message,
                                          instance::Instance& way, std::uint64_t number) {
    core::Request* send = base_.requests.take(thread);
    if (send == nullptr) return nullptr;
    count_reference(thread, *message.communicator, +1);
    const Post post = post_in_section(thread, way, message, number);
    count_reference(thread, *message.communicator, -1);
    if (post == Post::retry) {
        base_.requests.free(thread, *send);
        return start_in_section(thread, way, message, false, number);
    }
    send->operation = core::Operation::send;
    send->any_tag = send->cancelled = send->synchronous = false;
    send->instance = way.number();
    send->error = 0;
    const InSection section(thread.visitor, Section::request, base_.requests.number_of(*send));
    send->done.store(true, release);
    thread.visitor->productive(3);  // made, completed, and freed by the call that waits for it
    return send;
}

void Recipes::count_reference(core::Thread& thread, objects::Communicator& communicator,
                              int change) {
    const InSection section(base_.laboratory->locked_counts ? thread.visitor : nullptr,
                            Section::reference_count, communicator.context);
    communicator.references.fetch_add(static_cast<std::uint32_t>(change),
                                      relaxed);  // the caller has one, too
}

bool Recipes::reorder(ProgressCall& call, instance::LockedInstance instance, std::int32_t process,
                      const transport::Header& header) {
    if (!base_.is_sequenced()) return false;
    core::Thread& thread = call.thread;
    match::Message& message = others_.receiver.copy_of({call, process, header, &instance});
    message.next = nullptr;
    (thread.reordered == nullptr ? thread.reordered : thread.last_reordered->next) = &message;
    thread.last_reordered = &message;
    return true;
}

void Recipes::match_reordered(ProgressCall& call) {
    for (match::Message* next = std::exchange(call.thread.reordered, nullptr); next != nullptr;) {
        match::Message& message = *std::exchange(next, next->next);
        const match::Envelope& of = message.envelope;
        const instance::InstanceLock home(
            base_.pool.lock(base_.pool.home(of.context, of.tag), of.context, of.tag));
        match_in_sequence(call, home, message);
    }
}

/// Matches all messages, also those that another thread would look at next.
void Recipes::match_all_that_came(ProgressCall& call) {
    others_.polling.answer_mailbox(call);
    base_.pool.each(base_.pool.used(), [&](instance::Instance& instance) {
        others_.polling.drain(call, instance::InstanceLock(instance));
    });
    finish(call);
}

/// Matches the message, and those that have waited for it.
void Recipes::match_in_sequence(ProgressCall& call, instance::LockedInstance home,
                                match::Message& message) {
    if (message.stamp == in_no_sequence) return match_at_home(call, home, message);
    Sequence& sequence = base_.laboratory->incoming(home.number(), message.peer);
    if (message.stamp != sequence.next) {
        sequence.early.emplace(message.stamp, &message);
        return base_.laboratory->counters(home.number()).out_of_sequence.add();
    }
    match_at_home(call, home, message);
    auto& early = sequence.early;
    for (++sequence.next; !early.empty() && early.begin()->first == sequence.next; ++sequence.next)
        match_at_home(call, home, *early.extract(early.begin()).mapped());
}

void Recipes::match_at_home(ProgressCall& call, instance::LockedInstance home,
                            match::Message& message) {
    if (&protocol_of(message) == &protocols::nothing)
        return others_.messages.free(call.thread, message);
    message.instance = home.number();
    match::note_posted(home->matcher.counters());
    others_.receiver.match_taken_out(call, home, message);
}

/// Polls as in P1, algorithm 2: the thread's own instance first, then the others in turn until one
/// has a message. That also finds messages of threads that have ended.
bool Recipes::poll(core::Thread& thread) {
    if (thread.visitor != nullptr) {
        thread.visitor->path = Path::progress;
        thread.visitor->give_way();
    }
    bool moved = false;
    {
        const InSection section(thread.visitor, Section::progress);
        moved = poll_own_first(thread);
    }
    if (thread.visitor != nullptr) thread.visitor->path = Path::main;
    return moved;
}

/// Polls for MPI_Test, which is on the main path: its caller has other work to do (P2, section
/// 4.1). It need not wait for the lock either (section 6.2).
void Recipes::test(core::Thread& thread) {
    const InSection section(thread.visitor, Section::progress, 0, sync::locks::Limit::of_tests);
    if (section.gave_up())
        thread.visitor->counters.lock_given_up.add();
    else
        poll_own_first(thread);
}

bool Recipes::poll_own_first(core::Thread& thread) {
    if (base_.laboratory->serial && !base_.laboratory->progress.try_lock()) return false;
    const std::size_t own = base_.laboratory->own(thread);
    const instance::Instances others =
        (base_.pool.used() | others_.backlog.instances()) & ~(instance::Instances{1} << own);
    bool moved = poll_in_section(thread, own);
    for (instance::Instances left = std::rotr(others, static_cast<int>(own)); left != 0 && !moved;
         left &= left - 1)
        moved =
            poll_in_section(thread, (static_cast<std::size_t>(std::countr_zero(left)) + own) % 64);
    if (!moved) others_.polling.poll_all(thread);
    if (base_.laboratory->serial) base_.laboratory->progress.unlock();
    return moved;
}

bool Recipes::poll_in_section(core::Thread& thread, std::size_t number) {
    instance::Instance& instance = base_.pool[number];
    const bool something = instance.something_came() || instance.backlog().load(relaxed) != 0;
    bool moved = false;
    {
        const SectionWithoutWork section(thread, something ? thread.visitor : nullptr,
                                         Section::inbox, number);
        moved = others_.polling.poll(thread, instance::Instances{1} << number);
    }
    ProgressCall call(thread);
    finish(call);
    return moved;
}

}  // namespace heddle::p2p

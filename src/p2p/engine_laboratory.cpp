// SPDX-License-Identifier: BSD-3-Clause
/// Sending, matching and making progress in recipes of the laboratory (p2p/laboratory.hpp).

#include <bit>
#include <utility>

#include "objects/communicator.hpp"
#include "p2p/engine.hpp"
#include "platform/tick_rate.hpp"
#include "sync/locks/sections.hpp"

namespace heddle::p2p {

using sync::locks::InSection;
using sync::locks::Path;
using sync::locks::Section;

namespace {

/// Work that is put off may want sections of its own: in this one, it is put off further.
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

/// Has it counted how long it lives.
class Stopwatch {
public:
    Stopwatch(bool on, match::SearchCounts& counts, std::uint32_t context) noexcept
        : counts_(on ? &counts : nullptr), context_(context), start_(on ? platform::ticks() : 0) {}
    ~Stopwatch() {
        if (counts_ == nullptr) return;
        const auto took = platform::duration_of(platform::ticks() - start_);
        counts_->add_time(context_, static_cast<std::uint64_t>(took.count()));
    }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

private:
    match::SearchCounts* counts_;
    std::uint32_t context_;
    std::uint64_t start_;
};

/// Not messages of collectives, which have a context of their own.
bool may_overtake(const Outbound& message) noexcept {
    return message.communicator != nullptr && message.communicator->hints.allow_overtaking &&
        message.communicator->context == message.envelope.context;
}

}  // namespace

/// An eager message, if there is room for it. In the section of the outbox.
Post Engine::post_in_section(core::Thread& thread, instance::Instance& way, const Outbound& message,
                             std::uint64_t number) {
    const InSection section(thread.visitor, Section::outbox, way.number);
    open_channel(thread, way, message.process);
    return post(thread, way, message, MessageKind::eager, nullptr, 0, numbered(number));
}

/// In the section of the outbox.
core::Request* Engine::start_send_in_section(core::Thread& thread, instance::Instance& way,
                                             const Outbound& message, bool synchronous,
                                             std::uint64_t number) {
    core::Request* send = nullptr;
    {
        const SectionWithoutWork section(thread, thread.visitor, Section::outbox, way.number);
        send = start_send_by(thread, way, message, synchronous, number);
    }
    ProgressCall call(thread);
    finish(call);
    return send;
}

core::Request* Engine::send_in_laboratory(core::Thread& thread, const Outbound& message,
                                          Sending how) {
    instance::Instance& home = pool_.home(message.envelope.context, message.envelope.tag);
    std::uint64_t number = 0;
    instance::Instance* way = &home;
    if (laboratory_->sequenced && message.process != rank_) {
        // The number before the instance: who takes both has them in the order of its sends.
        number = may_overtake(message) ? in_no_sequence
                                       : laboratory_->take_number(home.number, message.process);
        way = &pool_[laboratory_->choose(thread)];
    }
    if (how != Sending::synchronous && message.process != rank_ &&
        message.bytes <= settings_.eager_limit) {
        if (how == Sending::nonblocking && thread.visitor != nullptr)
            return send_with_request(thread, message, *way, number);
        if (post_in_section(thread, *way, message, number) == Post::done) return &completed_send_;
    }
    return start_send_in_section(thread, *way, message, how == Sending::synchronous, number);
}

std::size_t Engine::choose_instance(const core::Thread& thread, std::uint32_t context) noexcept {
    return laboratory_->sequenced ? laboratory_->choose(thread) : pool_.home_of(context, 0);
}

/// A nonblocking send as P3 has it (section 5.3): with a request, even if the message is away at once,
/// and a reference to the communicator meanwhile. Predefined datatypes are never freed, and not counted.
core::Request* Engine::send_with_request(core::Thread& thread, const Outbound& message,
                                         instance::Instance& way, std::uint64_t number) {
    core::Request* send = take_request(thread);
    if (send == nullptr) return nullptr;
    count_reference(thread, *message.communicator, +1);
    const Post post = post_in_section(thread, way, message, number);
    count_reference(thread, *message.communicator, -1);
    if (post == Post::retry) {
        free_request(thread, *send);
        return start_send_in_section(thread, way, message, false, number);
    }
    send->operation = core::Operation::send;
    send->any_tag = send->cancelled = send->synchronous = false;
    send->instance = way.number;
    send->error = 0;
    const InSection section(thread.visitor, Section::request, requests_.number_of(send));
    send->done.store(true, release);
    thread.visitor->productive(3);  // made, completed, and freed by the call that waits for it
    return send;
}

void Engine::count_reference(core::Thread& thread, objects::Communicator& communicator,
                             int change) {
    const InSection section(laboratory_->locked_counts ? thread.visitor : nullptr,
                            Section::reference_count, communicator.context);
    communicator.references.fetch_add(static_cast<std::uint32_t>(change),
                                      relaxed);  // the caller has one, too
}

/// A receive that goes to the instance of its tag, past the short way.
core::Request* Engine::post_exactly(core::Thread& thread, core::Request& receive) {
    instance::Instance& home = pool_.home(receive.context, receive.tag);
    receive.instance = home.number;
    match::Message* message = nullptr;
    if (thread.visitor != nullptr) {
        thread.visitor->productive(2);  // made, and freed by the call that waits for it
        sync::Slot* nobody = nullptr;
        receive.waiter.compare_exchange_strong(nobody, laboratory_->completions().as_waiter(),
                                               release, relaxed);
    }
    {
        const InSection section(thread.visitor, Section::inbox, home.number);
        lock(home, {receive.context, receive.source, receive.tag});
        message = post_watched(home, receive);
        if (message != nullptr) message = take_accepted(home, receive, message);
        home.lock.unlock();
    }
    if (message != nullptr) {
        note_causality(receive, *message);
        consume_now(thread, receive, *message);
    }
    return &receive;
}

/// Instance locked.
match::Message* Engine::post_watched(instance::Instance& instance, core::Request& receive) {
    const match::Pattern pattern{receive.context, receive.source, receive.tag};
    if (recording_ != nullptr) recording_->post(pattern);
    const Stopwatch watch(settings_.match_timing == tool::Switch::on, instance.matcher.searches(),
                          pattern.context);
    return instance.matcher.post(receive, pattern);
}

/// Instance locked.
core::Request* Engine::match_watched(instance::Instance& instance,
                                     match::Envelope envelope) noexcept {
    instance.watched = wildcards_.any() || homes_.any_at(instance.number);
    if (recording_ != nullptr) recording_->arrive(envelope);
    const Stopwatch watch(settings_.match_timing == tool::Switch::on, instance.matcher.searches(),
                          envelope.context);
    return match_with_wildcards(instance, envelope);
}

std::string Engine::close_recording() { return recording_ == nullptr ? "" : recording_->close(); }

/// Takes a message out of a ring, to be matched at its home; false if the ring has to be left as it is.
/// The instance of the ring is locked.
bool Engine::set_aside(ProgressCall& call, instance::Instance& instance, std::int32_t process,
                       const transport::Header& header) {
    if (!is_sequenced()) return false;
    core::Thread& thread = call.thread;
    match::Message& message = copy_of(call.thread, header, process, instance.number);
    message.next = nullptr;
    (thread.set_aside == nullptr ? thread.set_aside : thread.last_set_aside->next) = &message;
    thread.last_set_aside = &message;
    return true;
}

/// No lock is held.
void Engine::match_set_aside(ProgressCall& call) {
    for (match::Message* next = std::exchange(call.thread.set_aside, nullptr); next != nullptr;) {
        match::Message& message = *std::exchange(next, next->next);
        instance::Instance& home = pool_.home(message.envelope.context, message.envelope.tag);
        lock(home, message.envelope);
        match_in_sequence(call, home, message);
        home.lock.unlock();
    }
}

/// Also what another thread would look at next.
void Engine::match_all_that_came(ProgressCall& call) {
    answer_mailbox(call);
    for_each(used(), [&](instance::Instance& instance) {
        instance.lock.lock();
        drain(call, instance);
        instance.lock.unlock();
    });
    finish(call);
}

/// The message, and those that have waited for it. Its home is locked.
void Engine::match_in_sequence(ProgressCall& call, instance::Instance& home,
                               match::Message& message) {
    if (message.stamp == in_no_sequence) return match_at_home(call, home, message);
    Sequence& sequence = laboratory_->incoming(home.number, message.peer);
    if (message.stamp != sequence.next) {
        sequence.early.emplace(message.stamp, &message);
        return laboratory_->counters(home.number).out_of_sequence.add();
    }
    match_at_home(call, home, message);
    auto& early = sequence.early;
    for (++sequence.next; !early.empty() && early.begin()->first == sequence.next; ++sequence.next)
        match_at_home(call, home, *early.extract(early.begin()).mapped());
}

void Engine::match_at_home(ProgressCall& call, instance::Instance& home, match::Message& message) {
    if (message.protocol == static_cast<std::uint8_t>(MessageKind::nothing))
        return free_message(call.thread, message);
    message.instance = home.number;
    match::note_posted(home.matcher.counters());
    match_taken_out(call, home, message);
}

/// P1, algorithm 2: the thread's own instance first, then the others in turn until one has something.
/// What threads leave behind that have ended is found in this way, too.
bool Engine::poll_in_laboratory(core::Thread& thread) {
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

/// MPI_Test is on the main path: whoever called it has something else to do (P2, section 4.1). It need
/// not wait for the lock either (section 6.2).
void Engine::test_in_laboratory(core::Thread& thread) {
    const InSection section(thread.visitor, Section::progress, 0, sync::locks::Limit::of_tests);
    if (section.gave_up())
        thread.visitor->counters.lock_given_up.add();
    else
        poll_own_first(thread);
}

bool Engine::poll_own_first(core::Thread& thread) {
    if (laboratory_->serial && !laboratory_->progress.try_lock()) return false;
    const std::size_t own = laboratory_->own(thread);
    const Instances others = (used() | backlog_.instances()) & ~(Instances{1} << own);
    bool moved = poll_in_section(thread, own);
    for (Instances left = std::rotr(others, static_cast<int>(own)); left != 0 && !moved;
         left &= left - 1)
        moved =
            poll_in_section(thread, (static_cast<std::size_t>(std::countr_zero(left)) + own) % 64);
    if (!moved) poll_all(thread);
    if (laboratory_->serial) laboratory_->progress.unlock();
    return moved;
}

bool Engine::poll_in_section(core::Thread& thread, std::size_t number) {
    instance::Instance& instance = pool_[number];
    const bool something = instance.something_came() || instance.backlog.load(relaxed) != 0;
    bool moved = false;
    {
        const SectionWithoutWork section(thread, something ? thread.visitor : nullptr,
                                         Section::inbox, number);
        moved = poll(thread, Instances{1} << number);
    }
    ProgressCall call(thread);
    finish(call);
    return moved;
}

}  // namespace heddle::p2p

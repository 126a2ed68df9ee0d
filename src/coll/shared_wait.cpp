// SPDX-License-Identifier: BSD-3-Clause
#include "coll/shared_wait.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "coll/shared_scratch.hpp"
#include "p2p/operations.hpp"
#include "progress/wait.hpp"

namespace heddle::coll {
namespace {

/// The tag of messages that wake. It lies above those of collectives and agreements, and below
/// those of nonblocking calls (execution.cpp).
constexpr std::int32_t wake_up_tag = 60000;

/// Pauses before the wait that can sleep: about a microsecond, in which most signals come.
constexpr int short_spin = 24;

/// Naps before the wait that can sleep for long.
constexpr int most_naps = 20;
/// Longer ones would delay other messages. Shorter ones would set the timer of the core.
constexpr std::chrono::milliseconds longest_nap{1};

Standing& standing_of(const Schedule& schedule, std::int32_t place) noexcept {
    const ScratchLayout layout(schedule.shared->memory, schedule.shared->places);
    return layout.standing(place);
}

SharedWord& word_of(const Step& step) noexcept { return *reinterpret_cast<SharedWord*>(step.to); }

bool is_crowded(const core::Thread& thread) noexcept {
    return thread.patience.crowded() || thread.engine->polling().short_of_cores();
}

progress::Peer peer_of(const Schedule& schedule, const Step& step) noexcept {
    return {standing_of(schedule, step.peer).waits, 1};
}

/// A condition of progress/wait.hpp: the signal is there, or a message that asks to look again.
class Signalled {
public:
    Signalled(core::Thread& thread, const Schedule& schedule, const Step& step) noexcept
        : thread_(thread),
          engine_(*thread.engine),
          schedule_(schedule),
          step_(step),
          mark_(std::uint64_t{1} << schedule.shared->place),
          instance_(p2p::Instances{1} << engine_.instance_of(context(), wake_up_tag)) {}
    ~Signalled() {
        if (wake_up_ != nullptr) take_back();
    }
    Signalled(const Signalled&) = delete;
    Signalled& operator=(const Signalled&) = delete;

    bool holds() const noexcept {
        return word_of(step_).reached(step_.turn) ||
            (wake_up_ != nullptr && wake_up_->completed()) || out_of_memory_;
    }
    p2p::Instances likely_instances() const noexcept { return instance_; }
    p2p::Instances instances() const noexcept { return instance_; }
    void announce(sync::Slot* slot) {
        if (slot != nullptr && wake_up_ == nullptr) leave_mark();
        if (wake_up_ != nullptr) (void)announcement_.make(*wake_up_, slot);
    }
    progress::Peer peer() const noexcept { return peer_of(schedule_, step_); }
    /// Reports the wait as if the step were a receive.
    void tell(core::Thread& thread, node::WaitsFor& what) const noexcept {
        p2p::tell_pattern(thread, {context(), rank_at(schedule_, step_.peer), schedule_.tag},
                          *what.add());
    }

private:
    std::uint32_t context() const noexcept { return schedule_.communicator.context + 1; }
    std::atomic<std::uint64_t>& marks() const noexcept {
        return standing_of(schedule_, step_.peer).sleepers;
    }
    void leave_mark() {
        wake_up_ = p2p::start_receive(thread_, schedule_.communicator, context(), nullptr, 0,
                                      rank_at(schedule_, step_.peer), wake_up_tag);
        out_of_memory_ = wake_up_ == nullptr;
        if (wake_up_ == nullptr) return;
        marks().fetch_or(mark_, relaxed);  // F2, the fence before sleep, orders it: pairs with F1
        engine_.polling().uncover_fence();
    }
    void take_back() {
        const bool still_there = (marks().fetch_and(~mark_, acq_rel) & mark_) != 0;
        if (!still_there || !engine_.receiver().cancel(thread_, *wake_up_))
            p2p::complete(thread_, *wake_up_);
        engine_.requests().free(thread_, *wake_up_);
    }

    core::Thread& thread_;
    p2p::Engine& engine_;
    const Schedule& schedule_;
    const Step& step_;
    const std::uint64_t mark_;
    const p2p::Instances instance_;
    core::Request* wake_up_ = nullptr;
    bool out_of_memory_ = false;  ///< no request: the caller comes again
    p2p::Announcement announcement_;
};

/// Returns whether the signal has come within a short spin. On a crowded core, a rank that does not
/// wait itself runs beside this one, on another core. While it runs, signals come soon, and an
/// offer of this core would part the two. So ranks that wait for each other come to have their
/// turns at the same time (gang scheduling). This lasts until the kernel takes a core from one of
/// them.
bool comes_soon(core::Thread& thread, const Schedule& schedule, const Step& step) noexcept {
    const progress::Peer peer = is_crowded(thread) ? peer_of(schedule, step) : progress::Peer();
    for (int i = 0; i < short_spin && peer.state() != progress::PeerState::waits; ++i) {
        if (word_of(step).reached(step.turn)) return true;
        platform::pause();
    }
    return false;
}

/// A sign to the others, while the object lives, that this rank sleeps, or waits and offers its
/// core.
class Waits {
public:
    explicit Waits(Standing& own) noexcept : own_(own) { own_.waits.store(1, relaxed); }
    ~Waits() { own_.waits.store(0, relaxed); }
    Waits(const Waits&) = delete;
    Waits& operator=(const Waits&) = delete;

private:
    Standing& own_;
};

}  // namespace

std::int32_t rank_at(const Schedule& schedule, std::int32_t place) noexcept {
    return schedule.shared->ranks == nullptr ? place : schedule.shared->ranks[place];
}

void signal(const Step& step) noexcept {
    SharedWord& word = word_of(step);
    if (step.size != 0) word.bytes = step.size;
    word.turn.store(step.turn, release);  // R1: pairs with A1 in SharedWord::reached()
}

std::uint64_t take_sleepers(const Schedule& schedule) noexcept {
    sync::NodeFence::light();  // F1: pairs with F2, the fence of the rank that goes to sleep
    std::atomic<std::uint64_t>& marks = standing_of(schedule, schedule.shared->place).sleepers;
    if (marks.load(relaxed) == 0) [[likely]]
        return 0;
    return marks.exchange(0, acq_rel);
}

core::Request* send_wake_up(core::Thread& thread, const Schedule& schedule, std::int32_t place) {
    objects::Communicator& communicator = schedule.communicator;
    return p2p::start_send(thread, communicator, communicator.context + 1, nullptr, 0,
                           rank_at(schedule, place), wake_up_tag);
}

void nap(core::Thread& thread, const Schedule& schedule, const Step& step) {
    p2p::Polling& polling = thread.engine->polling();
    const auto reached = [&] { return word_of(step).reached(step.turn); };
    if (reached() || !polling.may_sleep() || !is_crowded(thread)) return;
    const Waits waits(standing_of(schedule, schedule.shared->place));
    sync::EventCount& releases = standing_of(schedule, step.peer).releases;
    for (int naps = 0; naps < most_naps; ++naps) {
        p2p::without_shortage(thread, [&] { polling.poll_all(thread); });
        if (reached()) return;
        thread.progress.naps.add();
        releases.wait_for(reached, longest_nap);
    }
}

void wake_nappers(core::Thread& thread, const Schedule& schedule) noexcept {
    // They could not take the core while this rank offered it.
    if (standing_of(schedule, schedule.shared->place).releases.notify_all())
        thread.patience.vain_offers = 0;
}

void await(core::Thread& thread, const Schedule& schedule, const Step& step) {
    if (word_of(step).reached(step.turn) || comes_soon(thread, schedule, step)) [[likely]]
        return;
    const Waits waits(standing_of(schedule, schedule.shared->place));
    p2p::Engine& engine = *thread.engine;
    while (!word_of(step).reached(step.turn))
        p2p::without_shortage(thread, [&] {
            progress::wait(engine.polling(), thread, Signalled(thread, schedule, step));
        });
}

std::uint64_t given_bytes(const Step& step) noexcept { return word_of(step).bytes; }

bool mend_length(const Schedule& schedule, const Step& step) noexcept {
    const ScratchLayout layout(schedule.shared->memory, schedule.shared->places);
    const std::uint64_t given = given_bytes(step);
    const std::byte* there = layout.place(step.peer, step.turn, given);
    std::byte* looked_for = layout.place(step.peer, step.turn, step.size);
    if (there != looked_for) std::memcpy(looked_for, there, std::min(given, step.size));
    return given > step.size;
}

}  // namespace heddle::coll

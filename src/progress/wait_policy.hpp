// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Decides how a waiting thread polls, when it offers its core to others, and when it sleeps. It
/// polls nothing itself and reads no clock: progress/wait.hpp says what has happened, and when.
///
/// Spinning       in bursts of polls, the first without pauses. A burst takes some microseconds: it
///                has fewer polls if each looks at the network, by a system call. Between bursts
///                the thread offers its core to others. On a core that no other thread wants it
///                spins for a limited time. The limit is the recent cost of a sleep and a wake-up
///                (within bounds). So no wait takes more than twice its time, and short ones take
///                no sleep (Karlin et al., 1991). Messages that come meanwhile show that something
///                is in progress, and begin the time anew.
/// Crowded core   if there are more threads than cores, or if another thread took the offer. There,
///                one offer follows each poll: a thread that spins keeps the core from threads with
///                work. Bursts stay if the peer is known to run on another core. They also stay if
///                the peer is not known and answers tend to come within a burst (core::Company).
///                Parting two threads that answer each other costs two changes of threads per
///                answer.
/// Patience       on a crowded core a wait makes 200 offers before it sleeps. They take about as
///                much of the core as a spin on a core of its own. Naps, which take the place of
///                offers in vain, count among them (progress/offer.hpp). A wait learns no smaller
///                number from long sleeps: sleeps themselves make such waits long, so it would
///                never unlearn.
/// State          of the thread in core::Patience, of the process in core::Company. This object
///                knows one wait.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "core/thread.hpp"
#include "progress/peer.hpp"

namespace heddle::progress {

class WaitPolicy {
public:
    static constexpr std::uint32_t burst = 64;                ///< polls between two offers
    static constexpr std::uint32_t far_burst = 8;             ///< if they look at the network
    static constexpr std::uint32_t polls_after_progress = 3;  ///< on a crowded core, too
    /// Answers within bursts before a single poll, on a crowded core.
    static constexpr std::uint32_t answers_per_share = 2048;
    static constexpr std::uint8_t most_vain_bursts = 4;
    static constexpr std::uint32_t most_offers = 200;  ///< before a sleep, on a crowded core
    /// Between two offers of a core that no other thread wants.
    static constexpr std::uint32_t bursts_alone = 4;
    /// Bounds of the learned cost. Programs are out of step by a tenth of a millisecond all the
    /// time.
    static constexpr std::chrono::nanoseconds least_cost_of_sleep{120'000},
        most_cost_of_sleep{200'000};

    enum class Next : std::uint8_t { poll, offer_core, sleep };

    WaitPolicy(core::Patience& patience, core::Company& company) noexcept
        : patience_(patience), company_(company) {}

    /// Returns false if the thread's patience with a crowded core is at an end.
    bool may_poll() const noexcept { return offers_ < most_offers; }

    /// Begins a burst of polls. `crowded`: other threads want this core. `peer` is unknown if no
    /// thread does. `far`: polls look at the network.
    void begin_burst(bool crowded, PeerState peer, bool far) noexcept {
        crowded_ = crowded;
        brief_ = crowded && polls_once(peer);
        left_ = brief_ ? 1 : far ? far_burst : burst;
        more_ = burst;  // but other instances must have their turn
        moved_ = false;
    }
    /// Notes a poll that did not bring the event. Returns whether another one follows in this
    /// burst. `moved`: messages came.
    bool polls_again(bool moved, PeerState peer) noexcept {
        if (!brief_ && peer == PeerState::waits) return false;
        moved_ = moved_ || moved;
        // Messages keep coming. Changing threads now would cost more than waiting for the next one.
        if (moved && left_ <= polls_after_progress && more_ > 0) {
            left_ = polls_after_progress + 1;
            --more_;
        }
        return --left_ > 0;
    }
    /// Returns whether a pause follows a poll. Events of the first microsecond are seen at once.
    bool pauses() const noexcept { return bursts_ != 0 || offers_ != 0; }
    /// Notes that the event came in this burst.
    void note_event(PeerState peer) noexcept {
        if (crowded_) note_answer(peer);
    }
    /// Notes that the burst is over, without the event.
    void end_burst(PeerState peer) noexcept {
        if (crowded_ && !brief_) note_silence(peer);
    }
    /// Returns what follows the burst. `now` is not read on a crowded core.
    Next next(std::chrono::nanoseconds now) noexcept {
        if (crowded_) return Next::offer_core;
        if (moved_ || end_.count() == 0) end_ = now + patience_.cost_of_sleep;
        if (now >= end_) return Next::sleep;
        return ++bursts_ % bursts_alone == 0 ? Next::offer_core : Next::poll;
    }
    /// Notes an offer of the core.
    void note_offer() noexcept {
        if (crowded_) ++offers_;
    }

private:
    /// Returns whether a thread on a crowded core polls once, not in a burst, before it offers the
    /// core.
    bool polls_once(PeerState peer) noexcept {
        // After many answers the other threads on this core have their turn.
        if (patience_.answers % answers_per_share == answers_per_share - 1) return true;
        if (peer == PeerState::unknown) return !company_.expected();
        if (peer == PeerState::waits) return true;
        if (patience_.bursts_to_skip == 0) return false;
        --patience_.bursts_to_skip;
        return true;
    }
    void note_answer(PeerState peer) noexcept {
        if (peer != PeerState::unknown) {
            ++patience_.answers;
            if (!brief_ && patience_.vain_bursts != 0) --patience_.vain_bursts;
            return;
        }
        if (brief_ && !company_.expected()) return company_.came();
        if (++patience_.answers == core::Company::many) company_.trust();
    }
    /// Notes that a burst was in vain. A peer that neither waits nor runs is ready, and has no
    /// core.
    void note_silence(PeerState peer) noexcept {
        if (peer == PeerState::unknown)
            return company_.stayed_away(std::exchange(patience_.answers, 0));
        if (peer == PeerState::waits) return;
        if (patience_.vain_bursts < most_vain_bursts) ++patience_.vain_bursts;
        patience_.bursts_to_skip = static_cast<std::uint8_t>((1U << patience_.vain_bursts) - 1);
    }

    core::Patience& patience_;
    core::Company& company_;
    std::uint32_t offers_ = 0, bursts_ = 0;
    std::uint32_t left_ = 0, more_ = 0;  ///< polls of this burst
    bool crowded_ = false, brief_ = false;
    bool moved_ = false;  ///< messages came in this burst
    std::chrono::nanoseconds end_{0};
};

/// Learns the cost of a sleep. Its preparation began at `start`, the sleep at `asleep`; the ring
/// that ended it was at `rung`.
inline void learn_cost_of_sleep(core::Patience& patience, std::chrono::nanoseconds start,
                                std::chrono::nanoseconds asleep, std::chrono::nanoseconds rung,
                                std::chrono::nanoseconds now) noexcept {
    if (rung < asleep) return;  // no thread woke it
    const std::chrono::nanoseconds cost = (asleep - start) + (now - rung);
    patience.cost_of_sleep =
        std::clamp((3 * patience.cost_of_sleep + cost) / 4, WaitPolicy::least_cost_of_sleep,
                   WaitPolicy::most_cost_of_sleep);
}

}  // namespace heddle::progress

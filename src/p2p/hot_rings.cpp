// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/hot_rings.hpp"

#include <algorithm>
#include <bit>

namespace heddle::p2p {
namespace {

/// Cooling a ring costs every core of the node an interrupt. Ringing costs a sender a few locked
/// instructions. Cooling is worth that after so many cells through a hot ring, for each other
/// process of the node. A ring that was cold while its receiver slept is not hot again at once.
/// Some visits must find messages in it first; twice as many each time that heat was not worth it.
constexpr std::uint32_t cells_worth_cooling = 8;

}  // namespace

/// Spares senders the bell, unless a sleeping thread depends on it.
///
/// A leader says that it goes to sleep before it cools rings, with this lock held. So it either
/// finds this ring hot and cools it, or is seen asleep here. A leader that is awake cools before it
/// sleeps. So does a thread that takes the lead.
void HotRings::warm(instance::LockedInstance instance, instance::Inlet& inlet) noexcept {
    const auto leader = base_.lot.leader();
    const bool sleepers =
        instance.instance().parked().load(relaxed) != 0 || parked_everywhere_.load(relaxed) != 0;
    if (sleepers && leader != progress::Lot::Leader::awake) return;
    if (inlet.cold_visits != 0) {
        --inlet.cold_visits;
        return;
    }
    inlet.ring.set_hot(true);
    inlet.hot_since = inlet.ring.consumed();
    inlet.fenced = false;
    if (leader == progress::Lot::Leader::asleep)
        base_.bell().ring();  // so that the leader watches this ring
}

void HotRings::list_rung(instance::LockedInstance instance) {
    for (std::size_t word = 0; word < base_.mailboxes.source_words(); ++word) {
        auto& sources = base_.mailboxes.rung_sources(static_cast<std::size_t>(base_.rank),
                                                     instance.number(), word);
        for (std::uint64_t left = sources.exchange(0, seq_cst); left != 0; left &= left - 1) {
            const auto from = static_cast<std::int32_t>(word * 64) + std::countr_zero(left);
            instance->list(base_.pool.inlet(instance, from));
        }
    }
}

void HotRings::cool(Instances which) {
    base_.pool.each(which & base_.pool.used(), [this](instance::Instance& instance) {
        const instance::InstanceLock held(instance);
        held->each_polled([&](instance::Inlet& inlet) { cool(held, inlet); });
    });
}

/// Cools the ring. The caller passes fence_before_sleep() later.
void HotRings::cool(instance::LockedInstance instance, instance::Inlet& inlet) noexcept {
    give_cells_back(instance, inlet);
    const bool hot = inlet.ring.hot();
    if (hot) {
        const auto others =
            std::max<std::uint32_t>(1, static_cast<std::uint32_t>(base_.mailboxes.processes()) - 1);
        const std::uint32_t worth = cells_worth_cooling * others;
        inlet.visits_before_warm = inlet.ring.consumed() - inlet.hot_since >= worth
            ? instance::Inlet::fewest_cold_visits
            : std::min(worth, 2 * inlet.visits_before_warm);
    }
    inlet.cold_visits = inlet.visits_before_warm;
    if (!hot) return;
    inlet.ring.set_hot(false);
    fence_.uncover();
}

void HotRings::give_cells_back(instance::LockedInstance instance, instance::Inlet& inlet) noexcept {
    inlet.ring.give_back_all();
    if (inlet.ring.producer_starves()) base_.notify(inlet.process, instance.number());
}

bool HotRings::cool_idle() {
    bool busy = false;
    const bool alone = base_.lone_thread.threads() <= 1;
    base_.pool.each(base_.pool.used(), [&](instance::Instance& instance) {
        const instance::InstanceLock held(instance);
        const bool sleepers =
            alone || instance.parked().load(relaxed) != 0 || parked_everywhere_.load(relaxed) != 0;
        for (std::uint32_t i = held->polled_count.load(relaxed); i-- > 0;) {
            instance::Inlet& inlet = *held->polled[i].load(relaxed);
            const bool moved = inlet.ring.consumed() != inlet.seen;
            inlet.seen = inlet.ring.consumed();
            if (moved && !sleepers && inlet.ring.hot()) {
                busy = true;
                continue;
            }
            // The ring is cold since before a leader's last fence, so a message would have been
            // announced. A ring that another thread has cooled since may hold a message that was
            // sent while it was hot.
            if (inlet.fenced && !moved && !inlet.ring.ready()) held->unlist(inlet);
            cool(held, inlet);
            inlet.fenced = true;
        }
    });
    return busy;
}

void HotRings::add_parked(Instances which, int change) noexcept {
    const auto difference = static_cast<std::uint32_t>(change);
    if (which == instance::all) {
        parked_everywhere_.fetch_add(difference,
                                     relaxed);  // cool() locks after this, warm() before
        return;
    }
    base_.pool.each(which, [&](instance::Instance& instance) {
        instance.parked().fetch_add(difference, relaxed);  // likewise
    });
}

}  // namespace heddle::p2p

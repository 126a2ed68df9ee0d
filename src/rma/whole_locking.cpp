// SPDX-License-Identifier: BSD-3-Clause
#include "rma/whole_locking.hpp"

#include <algorithm>
#include <vector>

#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "rma/admission.hpp"
#include "rma/far_targets.hpp"
#include "rma/meeting.hpp"

namespace heddle::rma {
namespace {

using core::Thread;
using objects::Window;

/// A process that locks all targets, on each node.
class ReaderOfAll {
public:
    ReaderOfAll(Thread& thread, Window& window)
        : thread_(thread), window_(window), states_(window.nodes.size(), WholeState::queued) {}

    int enter() {
        for (std::size_t node = 0; node < states_.size(); ++node)
            if (const int error = enter_node(node)) return error;
        return be_firm_everywhere();
    }

private:
    /// Enters the lock of a node, at least loosely.
    int enter_node(std::size_t node) {
        states_[node] = take(node, WholeStep::enter);
        if (states_[node] != WholeState::queued) return MPI_SUCCESS;
        loosen();
        while (states_[node] == WholeState::queued) {
            if (const int error = hear(node)) return error;
            states_[node] = take(node, WholeStep::look);
        }
        return MPI_SUCCESS;
    }
    int be_firm_everywhere() {
        for (;;) {
            const auto loose = std::find(states_.begin(), states_.end(), WholeState::loose);
            if (loose == states_.end()) return MPI_SUCCESS;
            const auto node = static_cast<std::size_t>(loose - states_.begin());
            *loose = take(node, WholeStep::be_firm);
            if (*loose == WholeState::in) continue;
            loosen();
            if (const int error = hear(node)) return error;
        }
    }
    void loosen() {
        for (std::size_t node = 0; node < states_.size(); ++node)
            if (states_[node] == WholeState::in) states_[node] = take(node, WholeStep::loosen);
    }
    int hear(std::size_t node) {
        thread_.windows.window_lock_waits.add();
        return hear_of_admission(thread_, window_, whole_tag(window_.nodes[node], readers_in),
                                 {-1, nullptr});
    }
    WholeState take(std::size_t node, WholeStep step) {
        const std::int32_t first = window_.nodes[node];
        if (first != window_.here.front()) return window_.far->take_step(thread_, first, step);
        bool tells = false;
        const WholeState state = take_step(window_, window_.communicator->rank, step, tells);
        if (tells) tell_let_in(thread_, window_);
        return state;
    }

    Thread& thread_;
    Window& window_;
    std::vector<WholeState> states_;
};

}  // namespace

WholeState take_step(Window& window, std::int32_t rank, WholeStep step, bool& tells) {
    WholeLock& lock = window.front->lock;
    const WholeLock::Parties parties = parties_of(window);
    switch (step) {
        case WholeStep::enter: return lock.enter(parties, rank);
        case WholeStep::look:
            return lock.take_grant(parties, rank, readers_in) ? WholeState::loose
                                                              : WholeState::queued;
        case WholeStep::be_firm:
            return lock.be_firm(parties, rank) ? WholeState::in : WholeState::loose;
        case WholeStep::loosen: tells = lock.loosen(parties); return WholeState::loose;
        default: tells = lock.leave(parties); return WholeState::queued;
    }
}

int lock_whole(Thread& thread, Window& window) {
    if (window.far == nullptr && window.front->lock.try_enter()) [[likely]]
        return MPI_SUCCESS;
    return ReaderOfAll(thread, window).enter();
}

void unlock_whole(Thread& thread, Window& window) {
    if (window.far != nullptr) window.far->leave_all_nodes(thread);
    if (window.front->lock.leave(parties_of(window))) tell_let_in(thread, window);
}

int wait_as_writer(Thread& thread, Window& window, std::int32_t target, bool holds) {
    const WholeKind kind = kind_of_writer(holds);
    thread.windows.window_lock_waits.add();
    do {
        const std::int32_t tag = whole_tag(window.here.front(), kind);
        if (const int error = hear_of_admission(thread, window, tag, {target, nullptr}))
            return error;
    } while (!window.front->lock.take_grant(parties_of(window), window.communicator->rank, kind));
    return MPI_SUCCESS;
}

void tell_let_in(Thread& thread, Window& window) {
    each_let_in(window, [&](std::int32_t rank, std::int32_t tag) {
        tell_of_admission(thread, window, rank, tag);
    });
}

}  // namespace heddle::rma

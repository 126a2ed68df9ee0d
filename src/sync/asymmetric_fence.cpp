// SPDX-License-Identifier: BSD-3-Clause
#include "sync/asymmetric_fence.hpp"

#include <thread>

namespace heddle::sync {
namespace {

/// A store leaves its core within microseconds, even behind dozens of others that wait for lines of
/// other cores. A thread that is interrupted leaves none behind. No processor promises a bound.
constexpr std::chrono::microseconds stores_take{500};

}  // namespace

bool HeavyFences::find_out() noexcept {
    const int error = platform::register_heavy_fences();
    if (error != 0) give_up(error);
    State nobody_else = State::not_asked;
    state_.compare_exchange_strong(nobody_else, State::available, std::memory_order_acq_rel,
                                   std::memory_order_relaxed);
    return state_.load(std::memory_order_relaxed) == State::available;
}

void HeavyFences::give_up(int error) noexcept {
    refusal_.store(error, std::memory_order_relaxed);
    state_.store(State::refused, std::memory_order_release);
}

void HeavyFences::wait_for_stores() noexcept {
    std::this_thread::sleep_for(stores_take);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace heddle::sync

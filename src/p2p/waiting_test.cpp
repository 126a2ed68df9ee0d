// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/waiting.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "objects/process.hpp"
#include "progress/lot.hpp"
#include "progress/offer.hpp"
#include "testing/job.hpp"

namespace heddle::p2p {
namespace {

/// Another thread that completes requests of the waiting one, at the worst steps of its going to
/// sleep.
struct EngineOfAnother {
    std::array<core::Request, 3>& requests;
    std::size_t first_to_complete;
    progress::Lot lot_;
    sync::Doorbell bell_;
    bool missed = false;  ///< the first one completes before its announcement can be seen
    int sleeps_for_nothing = 0;

    /// Completes a request: stores `done`, and looks for a waiting thread.
    static void complete(core::Request& request) {
        request.done.store(true, release);
        if (sync::Slot* waiter = request.waiter.load(relaxed)) waiter->signal();
    }

    bool fence_before_sleep() {
        if (std::exchange(missed, true)) return true;
        core::Request& request = requests[first_to_complete];
        sync::Slot* const announced = request.waiter.exchange(nullptr, relaxed);
        complete(request);  // which still found no waiter
        request.waiter.store(announced, relaxed);
        return true;
    }
    /// The last look before the sleep. Later completions must wake the thread.
    bool something_to_do(core::Thread&, Instances) {
        for (core::Request& request : requests) {
            if (request.completed() || request.waiter.load(relaxed) == nullptr) continue;
            complete(request);
            return false;
        }
        ++sleeps_for_nothing;
        for (core::Request& request : requests) complete(request);
        return true;
    }

    struct NothingUnexpected {
        static bool is_stale() { return false; }
        static bool is_cheap() { return true; }
        static void write(core::Thread&) {}
    };
    static NothingUnexpected unexpected_notice() { return {}; }
    progress::Lot& lot() { return lot_; }
    sync::Doorbell& bell() { return bell_; }
    static void add_parked(Instances, int) {}
    static void cool(Instances) {}
    static bool cool_idle() { return false; }
    static void stir_idle_rings() {}
    static void tell_waits(Instances, bool) {}
    static progress::Peer peer(std::int32_t, Instances) { return {}; }
    static std::chrono::nanoseconds tend_idle_rings(core::Thread&) { return sync::no_limit; }
    static Instances announce_backlog(core::Thread&) { return 0; }
    static void poll_all(core::Thread&) {}
    static bool poll(core::Thread&, Instances) { return false; }
    static bool short_of_cores() { return true; }
    static bool looks_far() { return false; }
    static bool may_sleep() { return true; }
    static bool offer_core(core::Patience& patience) {
        return progress::offer_core(patience, true);
    }
    static bool poll_without_sleep(core::Thread&) { return false; }
    core::Company& company() { return company_; }
    core::Company company_{};
};

/// Any of the requests may complete in the moment between announcement and fence. The thread then
/// sleeps for one that is not complete. The thread that completes that one wakes it.
TEST(Waiting, for_all_requests_sleeps_for_one_that_is_not_complete) {
    testing::run_job(1, 1, [](int, int) {
        core::Thread& thread = *objects::attached_thread();
        for (std::size_t which = 0; which < 3; ++which) {
            std::array<core::Request, 3> requests;
            std::array<core::Request*, 3> pointers;
            for (std::size_t i = 0; i < 3; ++i) pointers[i] = &requests[i];
            EngineOfAnother another{requests, which, {}, {}};
            AllRequests all(*thread.engine, pointers);
            progress::Waits waits(another, all);
            progress::park(another, thread, all, waits);
            EXPECT_EQ(another.sleeps_for_nothing, 0) << "request " << which;
            for (const core::Request& request : requests) {
                EXPECT_TRUE(request.completed());
                EXPECT_EQ(request.waiter.load(), nullptr);
            }
        }
    });
}

}  // namespace
}  // namespace heddle::p2p

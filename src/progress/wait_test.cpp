// SPDX-License-Identifier: BSD-3-Clause
#include "progress/wait.hpp"

#include <gtest/gtest.h>

namespace {

/// Messages keep coming to the instance that is likely; the one that is waited for is in another.
struct BusyEngine {
    static constexpr std::uint64_t likely = 1;
    bool came = false;

    bool poll(heddle::core::Thread&, std::uint64_t which) {
        EXPECT_EQ(which, likely);
        return true;
    }
    void poll_all(heddle::core::Thread&) { came = true; }
    bool short_of_cores() const { return crowded; }
    static bool in_laboratory() { return false; }
    static bool poll_in_laboratory(heddle::core::Thread&) { return false; }
    heddle::core::Company& company() { return company_; }
    bool crowded = false;
    heddle::core::Company company_;
};

struct Message {
    BusyEngine& engine;
    bool holds() const { return engine.came; }
    std::uint64_t instances() const { return ~std::uint64_t{0}; }
    std::uint64_t likely_instances() const { return BusyEngine::likely; }
    void announce(heddle::sync::Slot*) {}
    void describe(char*, std::size_t) {}
};

TEST(Wait, looks_at_every_instance_although_one_keeps_it_busy) {
    for (const bool crowded : {false, true}) {
        BusyEngine engine;
        engine.crowded = crowded;
        heddle::core::Thread thread;
        Message message{engine};
        EXPECT_TRUE(heddle::progress::spin(engine, thread, message));
    }
}

}  // namespace

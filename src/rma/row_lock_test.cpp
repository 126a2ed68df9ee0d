// SPDX-License-Identifier: BSD-3-Clause
#include "rma/row_lock.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>

#include "sync/mutex.hpp"
#include "testing/simulation.hpp"

namespace {

using heddle::testing::SimulatedWorld;
using heddle::testing::Simulation;
using heddle::testing::try_seeds;

using Rows = heddle::rma::BasicRowLock<SimulatedWorld, heddle::sync::BasicMutex<SimulatedWorld>>;

/// An element that short accumulates change at once, and rows in two steps.
struct Element {
    Rows lock;
    int value = 0, rows = 0;

    void change_shortly(std::uint32_t number) {
        const Rows::Short access(lock, number);
        ++value;
        Simulation::point();
        if (rows != 0) Simulation::fail("a row began beside a short accumulate");
    }
    void change_row() {
        if (++rows != 1) Simulation::fail("two rows at once");
        const int before = value;
        Simulation::point();
        value = before + 1;
        --rows;
    }
    void change_row_alone() {
        const std::lock_guard guard(lock);
        change_row();
    }
};

constexpr int changes_of_each = 3;

/// Returns what is wrong when `shorts` threads and `rows` threads change an element. The short ones
/// share a slot if `one_slot`.
std::string contend_for_element(int shorts, int rows, bool one_slot, bool locked = true) {
    return try_seeds(4000, {}, [=](Simulation& simulation) {
        auto element = std::make_shared<Element>();
        auto left = std::make_shared<int>(shorts + rows);
        const auto end = [=] {
            if (--*left == 0 && element->value != changes_of_each * (shorts + rows))
                Simulation::fail("a change is lost");
        };
        for (int i = 0; i < shorts; ++i)
            simulation.thread([=] {
                for (int round = 0; round < changes_of_each; ++round)
                    element->change_shortly(one_slot ? 0 : static_cast<std::uint32_t>(i));
                end();
            });
        for (int i = 0; i < rows; ++i)
            simulation.thread([=] {
                for (int round = 0; round < changes_of_each; ++round) {
                    if (locked)
                        element->change_row_alone();
                    else
                        element->change_row();
                }
                end();
            });
        return element;
    });
}

TEST(RowLock, rows_and_short_accumulates_lose_no_change) {
    EXPECT_EQ(contend_for_element(2, 1, false), "");
    EXPECT_EQ(contend_for_element(2, 2, false), "");
    EXPECT_EQ(contend_for_element(3, 1, true), "");
    EXPECT_EQ(contend_for_element(0, 3, false), "");
}

TEST(RowLock, the_simulation_finds_a_row_without_the_lock) {
    EXPECT_NE(contend_for_element(2, 1, false, false), "");
}

}  // namespace

// SPDX-License-Identifier: BSD-3-Clause
/// Windows in recipes of the laboratory, of several processes in one address space. The tests check
/// which instances operations hold, and that no thread waits for another that waits for an answer.

#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "mpi.h"
#include "objects/process.hpp"
#include "p2p/report/counters.hpp"
#include "testing/job.hpp"
#include "testing/watchdog.hpp"

namespace {

using heddle::testing::run_job;
using heddle::testing::Watchdog;
using heddle::tool::CounterIndex;

constexpr int ranks = 2, threads = 3, rounds = 60;
constexpr int operations = 5;  ///< of a thread in each round, to each target

struct Recipe {
    const char* name;
    std::vector<std::pair<const char*, const char*>> knobs;
    int instances;  ///< that operations of all threads hold
};

/// Prints the name. Without this function, a recipe is printed byte by byte.
void PrintTo(const Recipe& recipe, std::ostream* out) { *out << recipe.name; }

const Recipe recipes[] = {
    {"round_robin", {{"HEDDLE_ASSIGNMENT", "round-robin"}, {"HEDDLE_INSTANCES", "8"}}, 8},
    {"dedicated", {{"HEDDLE_ASSIGNMENT", "dedicated"}, {"HEDDLE_INSTANCES", "8"}}, threads},
    {"dedicated_few", {{"HEDDLE_ASSIGNMENT", "dedicated"}, {"HEDDLE_INSTANCES", "2"}}, 2},
    {"dedicated_serial",
     {{"HEDDLE_ASSIGNMENT", "dedicated"}, {"HEDDLE_PROGRESS", "serial"}},
     threads},
    {"by_communicator", {{"HEDDLE_ASSIGNMENT", "communicator"}}, 1},
    {"global", {{"HEDDLE_CRITICAL_SECTION", "global"}, {"HEDDLE_LOCK", "mcs"}}, 1},
    {"brief_global",
     {{"HEDDLE_CRITICAL_SECTION", "brief-global"}, {"HEDDLE_LOCK", "p-hmcs-mcs"}},
     1},
    {"per_object_round_robin",
     {{"HEDDLE_CRITICAL_SECTION", "per-object"},
      {"HEDDLE_ASSIGNMENT", "round-robin"},
      {"HEDDLE_INSTANCES", "4"}},
     4},
};

/// A job in one recipe: the processes that run_job() makes read their settings from the
/// environment.
class InRecipes : public ::testing::TestWithParam<Recipe> {
protected:
    InRecipes() {
        for (const auto& [name, value] : GetParam().knobs) setenv(name, value, 1);
    }
    ~InRecipes() override {
        for (const auto& [name, value] : GetParam().knobs) unsetenv(name);
    }
};
INSTANTIATE_TEST_SUITE_P(Recipes, InRecipes, ::testing::ValuesIn(recipes),
                         [](const auto& info) { return std::string(info.param.name); });

heddle::objects::Process& process() { return *heddle::objects::attached_thread()->process; }

std::uint64_t counted(CounterIndex which) { return heddle::p2p::read_counters(process())[which]; }

/// Returns the holds of this process, by instance.
std::vector<std::uint64_t> holds() {
    return heddle::p2p::read_array(process(), CounterIndex::instance_window_holds);
}

/// The window of one process: cells of its threads, and two cells that all threads change.
struct Side {
    MPI_Win win = MPI_WIN_NULL;
    std::int64_t* memory = nullptr;
    std::vector<std::int64_t> own = std::vector<std::int64_t>(cells);
    std::barrier<> together{threads};

    static constexpr int cells = ranks * threads + 2;
    static constexpr int sum = cells - 1, swapped = cells - 2;
};

/// Puts into a cell of the thread's own, gets it back, and changes the two cells that all threads
/// change.
void access(Side& side, int rank, int thread, Watchdog& watchdog) {
    const int mine = rank * threads + thread;
    for (std::int64_t round = 0; round < rounds; ++round)
        for (int target = 0; target < ranks; ++target) {
            const std::int64_t one = 1, value = 1000 * round + mine;
            std::int64_t back = -1, old = -1, seen = -1;
            MPI_Put(&value, 1, MPI_INT64_T, target, mine, 1, MPI_INT64_T, side.win);
            MPI_Win_flush(target, side.win);
            MPI_Get(&back, 1, MPI_INT64_T, target, mine, 1, MPI_INT64_T, side.win);
            EXPECT_EQ(back, value);
            MPI_Accumulate(&one, 1, MPI_INT64_T, target, Side::sum, 1, MPI_INT64_T, MPI_SUM,
                           side.win);
            MPI_Fetch_and_op(&one, &old, MPI_INT64_T, target, Side::sum, MPI_SUM, side.win);
            EXPECT_GE(old, 1);
            MPI_Compare_and_swap(&one, &one, &seen, MPI_INT64_T, target, Side::swapped, side.win);
            watchdog.progress();
        }
}

template <class Make>
void run(Make make, const std::function<void(Side&, int)>& look) {
    Watchdog watchdog("threads access windows");
    std::array<Side, ranks> sides;
    run_job(ranks, threads, [&](int rank, int thread) {
        Side& side = sides[static_cast<std::size_t>(rank)];
        if (thread == 0) {
            make(side);
            for (int i = 0; i < Side::cells; ++i) side.memory[i] = 0;
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Win_lock_all(0, side.win);
        }
        side.together.arrive_and_wait();
        access(side, rank, thread, watchdog);
        side.together.arrive_and_wait();
        if (thread == 0) {
            MPI_Win_unlock_all(side.win);
            look(side, rank);
            MPI_Barrier(MPI_COMM_WORLD);
            EXPECT_EQ(side.memory[Side::sum], 2 * rounds * threads * ranks);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Win_free(&side.win);
        }
        side.together.arrive_and_wait();
    });
}

void allocate(Side& side) {
    MPI_Win_allocate(Side::cells * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &side.memory, &side.win);
}
void create(Side& side) {
    side.memory = side.own.data();
    MPI_Win_create(side.memory, Side::cells * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &side.win);
}

constexpr std::uint64_t all_operations =
    std::uint64_t{operations} * rounds * threads * ranks;  // of a process

void expect_holds(int instances) {
    EXPECT_EQ(counted(CounterIndex::window_holds), all_operations);
    std::uint64_t sum = 0;
    int used = 0;
    for (const std::uint64_t times : holds()) {
        sum += times;
        used += times != 0;
    }
    EXPECT_EQ(sum, all_operations);
    EXPECT_EQ(used, instances);
}

TEST_P(InRecipes, operations_hold_the_instances_of_the_recipe) {
    run(allocate, [&](Side&, int) {
        expect_holds(GetParam().instances);
        // Each flush has passed one instance at least, and all instances at most.
        const std::uint64_t flushes = std::uint64_t{rounds} * threads * ranks + 1;
        const std::uint64_t passed = counted(CounterIndex::window_flush_holds);
        EXPECT_GE(passed, flushes);
        EXPECT_LE(passed, flushes * static_cast<std::uint64_t>(GetParam().instances));
    });
}

/// Any thread may flush, and the end of an epoch flushes, too.
TEST_P(InRecipes, a_flush_passes_all_instances_that_were_held) {
    const auto all = static_cast<std::uint64_t>(GetParam().instances);
    run(allocate, [&](Side& side, int) {
        const auto passes = [&](auto call) {
            const std::uint64_t before = counted(CounterIndex::window_flush_holds);
            call();
            EXPECT_EQ(counted(CounterIndex::window_flush_holds), before + all);
        };
        const std::int64_t value = 1;
        // The place is the rank's own: the threads of the other rank may not be done.
        const MPI_Aint place = process().rank() * threads;
        const auto put = [&] {
            MPI_Put(&value, 1, MPI_INT64_T, 0, place, 1, MPI_INT64_T, side.win);
        };
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, side.win);
        put();
        passes([&] { MPI_Win_flush(0, side.win); });
        passes([&] { MPI_Win_flush_all(side.win); });
        passes([&] { MPI_Win_unlock(0, side.win); });
        passes([&] { MPI_Win_fence(0, side.win); });
        passes([&] { MPI_Win_fence(MPI_MODE_NOSUCCEED, side.win); });
    });
}

/// The kernel copies this memory.
TEST_P(InRecipes, copies_by_the_kernel_hold_instances_too) {
    run(create, [&](Side&, int) { expect_holds(GetParam().instances); });
}

/// Ranks ask for this memory by messages. A thread that held an instance while it waits for an
/// answer would keep others from answering.
TEST_P(InRecipes, who_asks_a_target_holds_none) {
    setenv("HEDDLE_SINGLE_COPY", "never", 1);
    run(create, [&](Side&, int) {
        // An access of a process to its own memory asks no question.
        EXPECT_EQ(counted(CounterIndex::window_holds), all_operations / ranks);
    });
    unsetenv("HEDDLE_SINGLE_COPY");
}

void add_one(MPI_Win* win, int*, ...) {
    const std::int64_t one = 1;
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, *win);
}

/// Errors are raised when the thread holds nothing: the handler goes on with the window.
TEST_P(InRecipes, handlers_of_errors_may_access_the_window) {
    run_job(ranks, 1, [](int rank, int) {
        MPI_Errhandler handler;
        MPI_Win win;
        std::int64_t* memory = nullptr;
        MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        *memory = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_create_errhandler(add_one, &handler);
        MPI_Win_set_errhandler(win, handler);
        MPI_Win_lock_all(0, win);
        const std::int64_t value = 5;
        MPI_Put(&value, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, win);  // beyond the window
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            EXPECT_EQ(*memory, ranks);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_free(&win);
    });
}

TEST(InDefaultRecipe, operations_hold_nothing) {
    run(allocate, [](Side&, int) {
        EXPECT_EQ(counted(CounterIndex::window_holds), 0U);
        EXPECT_EQ(counted(CounterIndex::window_flush_holds), 0U);
    });
}

}  // namespace

// SPDX-License-Identifier: BSD-3-Clause
/// Tests the critical sections of the laboratory (sync/locks/sections.hpp) under threads of several
/// processes. These share one address space, so that ThreadSanitizer sees unguarded accesses.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <cstdlib>
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

constexpr int threads = 3;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int rounds = 40;
#else
constexpr int rounds = 300;
#endif

struct Recipe {
    const char* granularity;
    const char* lock;
    std::vector<std::pair<const char*, const char*>> more;
};

/// Prints a recipe, which would otherwise be printed byte by byte.
void PrintTo(const Recipe& recipe, std::ostream* out) {
    *out << recipe.granularity << ' ' << recipe.lock;
}

std::vector<Recipe> recipes() {
    std::vector<Recipe> all;
    for (const char* lock : {"mutex", "ticket", "hmcs", "p-hmcs-mcs"}) {
        all.push_back({"global", lock, {}});
        all.push_back({"brief-global", lock, {{"HEDDLE_TEST_LIMIT", "2000"}}});
        all.push_back(
            {"per-object",
             lock,
             {{"HEDDLE_REQUEST_POOLS", "common"}, {"HEDDLE_REFERENCE_COUNTS", "locked"}}});
    }
    all.push_back({"per-object", "mcs", {{"HEDDLE_ASSIGNMENT", "round-robin"}}});
    all.push_back({"brief-global",
                   "mutex",
                   {{"HEDDLE_ASSIGNMENT", "dedicated"}, {"HEDDLE_PROGRESS", "serial"}}});
    all.push_back({"global",
                   "p-mcs-hmcs",
                   {{"HEDDLE_ASSIGNMENT", "communicator"}, {"HEDDLE_TEST_LIMIT", "2000"}}});
    return all;
}

std::string name_of(const ::testing::TestParamInfo<Recipe>& info) {
    std::string name = std::string(info.param.granularity) + "_" + info.param.lock;
    for (const auto& [knob, value] : info.param.more)
        if (std::string(knob) == "HEDDLE_ASSIGNMENT") name += std::string("_") + value;
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    return name;
}

/// The processes that run_job() makes read their settings from the environment.
class Sections : public ::testing::TestWithParam<Recipe> {
protected:
    Sections() {
        set("HEDDLE_CRITICAL_SECTION", GetParam().granularity);
        set("HEDDLE_LOCK", GetParam().lock);
        for (const auto& [knob, value] : GetParam().more) set(knob, value);
    }
    ~Sections() override {
        for (const char* name : names_) unsetenv(name);
    }

private:
    void set(const char* name, const char* value) {
        setenv(name, value, 1);
        names_.push_back(name);
    }
    std::vector<const char*> names_;
};
INSTANTIATE_TEST_SUITE_P(Recipes, Sections, ::testing::ValuesIn(recipes()), name_of);

/// Returns the locks taken by all threads of the caller's process.
std::uint64_t locks_taken() {
    const heddle::tool::Values values =
        heddle::p2p::read_counters(*heddle::objects::attached_thread()->process);
    return values[heddle::tool::CounterIndex::lock_acquisitions_main] +
        values[heddle::tool::CounterIndex::lock_acquisitions_progress];
}

int tag_of(int thread, int kind) { return thread * 4 + kind; }

TEST_P(Sections, let_threads_exchange_messages_both_ways) {
    Watchdog watchdog("threads exchange messages");
    run_job(2, threads, [&](int rank, int thread) {
        constexpr int window = 8;
        std::array<int, window> out{}, in{};
        std::array<MPI_Request, 2 * window> requests;
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t i = 0; i < window; ++i)
                MPI_Irecv(&in[i], 1, MPI_INT, 1 - rank, tag_of(thread, 0), MPI_COMM_WORLD,
                          &requests[i]);
            for (std::size_t i = 0; i < window; ++i) {
                out[i] = round * window + static_cast<int>(i);
                MPI_Isend(&out[i], 1, MPI_INT, 1 - rank, tag_of(thread, 0), MPI_COMM_WORLD,
                          &requests[window + i]);
            }
            MPI_Waitall(2 * window, requests.data(), MPI_STATUSES_IGNORE);
            EXPECT_EQ(in, out);
            watchdog.progress();
        }
        EXPECT_GE(locks_taken(),
                  static_cast<std::uint64_t>(rounds));  // the recipe does take locks
    });
}

TEST_P(Sections, let_threads_test_while_others_wait) {
    Watchdog watchdog("threads test and wait");
    run_job(2, threads, [&](int rank, int thread) {
        std::vector<int> large(5000, thread);  // above the eager limit
        for (int round = 0; round < rounds / 4; ++round) {
            MPI_Request request;
            if (rank == 0) {
                MPI_Isend(large.data(), 5000, MPI_INT, 1, tag_of(thread, 1), MPI_COMM_WORLD,
                          &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            } else {
                std::vector<int> got(5000, -1);
                MPI_Irecv(got.data(), 5000, MPI_INT, 0, tag_of(thread, 1), MPI_COMM_WORLD,
                          &request);
                for (int done = 0; done == 0;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
                EXPECT_EQ(got, large);
            }
            watchdog.progress();
        }
    });
}

TEST_P(Sections, let_threads_probe) {
    Watchdog watchdog("threads probe");
    std::array<std::atomic<int>, 2> received{};
    run_job(2, threads, [&](int rank, int thread) {
        // A message that a thread probes for by its tag is its own. One probed for by any tag goes
        // to one of the threads.
        for (int round = 0; round < rounds / 2; ++round) {
            int value = round, got = -1;
            MPI_Send(&value, 1, MPI_INT, 1 - rank, tag_of(thread, 2), MPI_COMM_WORLD);
            MPI_Status status;
            MPI_Probe(1 - rank, tag_of(thread, 2), MPI_COMM_WORLD, &status);
            MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            EXPECT_EQ(got, value);
            watchdog.progress();
        }
        MPI_Comm anything = heddle::testing::other_world(1);
        for (int round = 0; round < rounds / 4; ++round)
            MPI_Send(&round, 1, MPI_INT, 1 - rank, thread, anything);
        for (int round = 0; round < rounds / 4; ++round) {
            MPI_Message message;
            int got = -1;
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, anything, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
            received[static_cast<std::size_t>(rank)] += got;
            watchdog.progress();
        }
    });
    const int each = rounds / 4 * (rounds / 4 - 1) / 2;
    EXPECT_EQ(received[0], threads * each);
    EXPECT_EQ(received[1], threads * each);
}

TEST_P(Sections, let_threads_cancel) {
    Watchdog watchdog("threads cancel");
    run_job(2, threads, [&](int rank, int thread) {
        for (int round = 0; round < rounds / 2; ++round) {
            // The receive either gets the message or is cancelled; then another one gets it.
            int value = round, got = -1, was_cancelled = 0;
            MPI_Request request;
            MPI_Irecv(&got, 1, MPI_INT, 1 - rank, tag_of(thread, 3), MPI_COMM_WORLD, &request);
            MPI_Send(&value, 1, MPI_INT, 1 - rank, tag_of(thread, 3), MPI_COMM_WORLD);
            MPI_Cancel(&request);
            MPI_Status status;
            MPI_Wait(&request, &status);
            MPI_Test_cancelled(&status, &was_cancelled);
            if (was_cancelled != 0)
                MPI_Recv(&got, 1, MPI_INT, 1 - rank, tag_of(thread, 3), MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            EXPECT_EQ(got, value);
            watchdog.progress();
        }
    });
}

}  // namespace

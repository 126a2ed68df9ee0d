// SPDX-License-Identifier: BSD-3-Clause
/// Tests receives with MPI_ANY_TAG at the home of their communicator (p2p/homes.hpp): which
/// instances they lock. Tests MPI's order when a communicator leaves its home in the middle. Each
/// job begins anew: its classes have no home.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "mpi.h"
#include "objects/communicator.hpp"
#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "p2p/report/counters.hpp"
#include "testing/job.hpp"
#include "testing/matching_plan.hpp"
#include "testing/watchdog.hpp"

namespace {

using heddle::testing::MatchingPlan;
using heddle::testing::other_world;
using heddle::testing::run_job;
using heddle::testing::Watchdog;
using heddle::tool::CounterIndex;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int slower = 10;  // a sanitizer checks every access instead
#else
constexpr int slower = 1;
#endif

std::uint64_t posted_everywhere() {
    return heddle::p2p::read_counters(
        *heddle::objects::current_thread->process)[CounterIndex::any_tag_everywhere];
}

/// Ends the program on a wrong value. Otherwise the ranks would wait for each other for ever.
void expect_value(int got, int expected, const char* what) {
    if (got == expected) return;
    std::fprintf(stderr, "%s: message %d came instead of %d\n", what, got, expected);
    std::_Exit(1);
}

/// Returns `count` tags of the communicator that go through the instance of tag 0.
std::vector<int> tags_of_one_instance(MPI_Comm comm, std::size_t count) {
    const auto& engine = *heddle::objects::attached_thread()->process->engine;
    const std::uint32_t context = reinterpret_cast<heddle::objects::Communicator*>(comm)->context;
    std::vector<int> tags;
    for (int tag = 0; tags.size() < count; ++tag)
        if (engine.instance_of(context, tag) == engine.instance_of(context, 0)) tags.push_back(tag);
    return tags;
}

TEST(Homes, threads_that_receive_on_communicators_of_their_own_lock_one_instance_each) {
    constexpr int threads = 4, window = 32, rounds = 2000 / slower;
    Watchdog watchdog("communicators of their own");
    std::atomic<int> over{0};
    run_job(2, threads, [&](int rank, int thread) {
        const MPI_Comm comm = other_world(static_cast<std::uint32_t>(thread));
        std::array<int, window> values{};
        std::array<MPI_Request, window> requests;
        for (int round = 0; round < rounds; ++round) {
            for (int i = 0; i < window; ++i) {
                const auto at = static_cast<std::size_t>(i);
                values[at] = rank == 0 ? round * window + i : -1;
                if (rank == 0)
                    MPI_Isend(&values[at], 1, MPI_INT, 1, thread, comm, &requests[at]);
                else
                    MPI_Irecv(&values[at], 1, MPI_INT, 0, MPI_ANY_TAG, comm, &requests[at]);
            }
            MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
            for (int i = 0; i < window; ++i)
                expect_value(values[static_cast<std::size_t>(i)], round * window + i, "own");
            watchdog.progress();
        }
        if (rank == 0 || over.fetch_add(1) != threads - 1) return;
        // Those that were posted before the first message of their communicator came.
        EXPECT_LE(posted_everywhere(), static_cast<std::uint64_t>(threads) * window);
    });
}

/// Two threads hand a counter to and fro. Each sends a few numbers, first under one tag, then under
/// any. The receives must get 0, 1, 2, ... The posted ones wait while the communicator leaves its
/// home.
void leave_home(int job) {
    constexpr int communicators = 6, before = 200, each = 600, ahead = 16;
    Watchdog watchdog("leaving home");
    std::array<std::atomic<int>, communicators> next{};
    run_job(2, 2, [&](int rank, int thread) {
        std::minstd_rand random(static_cast<unsigned>(job * 2 + thread + 1));
        for (int number = 0; number < communicators; ++number) {
            const MPI_Comm comm = other_world(static_cast<std::uint32_t>(number));
            if (rank == 0) {
                std::atomic<int>& counter = next[static_cast<std::size_t>(number)];
                for (int now = 0; (now = counter.load(std::memory_order_acquire)) < each;) {
                    if (now / 3 % 2 != thread) {
                        counter.wait(now, std::memory_order_acquire);
                        continue;
                    }
                    for (int i = now; i < now + 3; ++i) {
                        const int tag = i < before ? 7 : static_cast<int>(random() % 40);
                        MPI_Send(&i, 1, MPI_INT, 1, tag, comm);
                    }
                    counter.store(now + 3, std::memory_order_release);
                    counter.notify_one();
                }
            } else if (thread == 0) {
                std::array<int, ahead> values{};
                std::array<MPI_Request, ahead> requests;
                const auto post = [&](int i) {
                    const auto at = static_cast<std::size_t>(i % ahead);
                    MPI_Irecv(&values[at], 1, MPI_INT, 0, MPI_ANY_TAG, comm, &requests[at]);
                };
                for (int i = 0; i < ahead; ++i) post(i);
                for (int i = 0; i < each; ++i) {
                    const auto at = static_cast<std::size_t>(i % ahead);
                    MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
                    expect_value(values[at], i, "leaving home");
                    if (i + ahead < each) post(i + ahead);
                }
            } else {
                // Finds messages of other instances, and looks at its home from outside.
                for (int flag = 0, tries = 0; tries < 200; ++tries)
                    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
            }
            watchdog.progress();
        }
    });
}

TEST(Homes, of_a_communicator_whose_messages_begin_to_come_by_other_instances) {
    for (int job = 0; job < 30 / slower + 1; ++job) leave_home(job);
}

MatchingPlan make_plan(std::mt19937& random, const std::vector<int>& first_tags,
                       const std::vector<int>& later_tags, int count) {
    std::vector<int> sends, wanted;
    for (int i = 0; i < count; ++i) {
        const std::vector<int>& tags = i < count / 2 ? first_tags : later_tags;
        sends.push_back(tags[random() % tags.size()]);
        wanted.push_back(random() % 3 != 0 ? MPI_ANY_TAG : tags[random() % tags.size()]);
    }
    return {std::move(sends), wanted};
}

void exact_and_wild(unsigned seed) {
    constexpr int communicators = 12, count = 120;
    Watchdog watchdog("exact receives at home");
    run_job(2, 2, [&](int rank, int thread) {
        std::mt19937 random(seed * 2 + static_cast<unsigned>(thread));
        for (int number = 0; number < communicators; ++number) {
            const MPI_Comm comm = other_world(static_cast<std::uint32_t>(2 * number + thread));
            const std::vector<int> home = tags_of_one_instance(comm, 3);
            std::vector<int> any = home;
            if (number % 3 != 0) any.insert(any.end(), {1, 2, 3});
            const MatchingPlan plan = make_plan(random, home, any, count);
            std::vector<int> values(plan.sends.size(), -7);
            std::vector<MPI_Request> requests(values.size());
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (rank == 0) {
                    values[i] = static_cast<int>(i);
                    MPI_Isend(&values[i], 1, MPI_INT, 1, plan.sends[i], comm, &requests[i]);
                } else {
                    MPI_Irecv(&values[i], 1, MPI_INT, i % 2 == 0 ? 0 : MPI_ANY_SOURCE,
                              plan.receives[i], comm, &requests[i]);
                }
            }
            MPI_Waitall(static_cast<int>(values.size()), requests.data(), MPI_STATUSES_IGNORE);
            for (std::size_t i = 0; rank == 1 && i < values.size(); ++i)
                expect_value(values[i], plan.gets[i], "exact and wild");
            watchdog.progress();
        }
    });
}

TEST(Homes, exact_receives_and_wildcards_get_what_the_plain_rule_says) {
    for (unsigned seed = 0; seed < 60 / slower + 1; ++seed) exact_and_wild(seed);
}

TEST(Homes, messages_to_oneself_come_in_order) {
    run_job(1, 2, [&](int, int thread) {
        constexpr int count = 2000;
        const MPI_Comm comm = other_world(static_cast<std::uint32_t>(thread));
        std::minstd_rand random(3);
        for (int i = 0; i < count; ++i) {
            int value = -1;
            MPI_Request request;
            if (i % 2 == 0) MPI_Irecv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, comm, &request);
            const int tag = i < count / 2 ? 3 : static_cast<int>(random() % 50);
            MPI_Send(&i, 1, MPI_INT, 0, tag, comm);
            if (i % 2 == 1) MPI_Irecv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            expect_value(value, i, "to oneself");
        }
    });
}

/// Rank 0 beside the receiver and rank 2 on another node send at once. Messages of each sender come
/// in order.
TEST(Homes, messages_of_this_node_and_of_another_come_in_order) {
    constexpr int before = 100, each = 300, ahead = 8;
    Watchdog watchdog("two nodes");
    run_job({.nodes = {0, 0, 1}, .threads = 1, .seed = 3}, [&](int rank, int) {
        for (std::uint32_t number = 0; number < 4; ++number) {
            const MPI_Comm comm = other_world(number);
            std::minstd_rand random(static_cast<unsigned>(rank) + number);
            if (rank != 1) {
                for (int i = 0; i < each; ++i) {
                    const int tag = i < before ? 7 : static_cast<int>(random() % 40);
                    MPI_Send(&i, 1, MPI_INT, 1, tag, comm);
                }
                continue;
            }
            std::array<int, ahead> values{};
            std::array<MPI_Request, ahead> requests;
            const auto post = [&](int i) {
                const auto at = static_cast<std::size_t>(i % ahead);
                MPI_Irecv(&values[at], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                          &requests[at]);
            };
            std::array<int, 3> next{};
            for (int i = 0; i < ahead; ++i) post(i);
            for (int i = 0; i < 2 * each; ++i) {
                const auto at = static_cast<std::size_t>(i % ahead);
                MPI_Status status;
                MPI_Wait(&requests[at], &status);
                expect_value(values[at], next[static_cast<std::size_t>(status.MPI_SOURCE)]++,
                             "two nodes");
                if (i + ahead < 2 * each) post(i + ahead);
            }
            watchdog.progress();
        }
    });
}

TEST(Homes, receives_are_cancelled_there_and_elsewhere) {
    run_job(2, 1, [&](int rank, int) {
        const MPI_Comm comm = other_world(1);
        for (int round = 0; round < 40; ++round) {
            const int tag = round < 20 ? 5 : round % 9;
            int value = round;
            if (rank == 0) {
                MPI_Send(&value, 1, MPI_INT, 1, tag, comm);
                MPI_Recv(&value, 1, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE);
                continue;
            }
            MPI_Probe(0, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
            MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
            expect_value(value, round, "after a receive that was cancelled");
            int nothing = -1;
            MPI_Request request;
            MPI_Irecv(&nothing, 1, MPI_INT, 0, MPI_ANY_TAG, comm, &request);
            MPI_Cancel(&request);
            MPI_Status status;
            int cancelled = 0;
            MPI_Wait(&request, &status);
            MPI_Test_cancelled(&status, &cancelled);
            EXPECT_EQ(cancelled, 1);
            MPI_Send(&value, 1, MPI_INT, 0, 0, comm);
        }
    });
}

}  // namespace

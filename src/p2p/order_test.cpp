// SPDX-License-Identifier: BSD-3-Clause
/// Tests MPI's order of messages (MPI 5.0, 3.5), in sizes that would show one overtaking in a
/// million. It is the order of each sending thread, of sending threads which synchronise, and of
/// receives.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "mpi.h"
#include "objects/communicator.hpp"
#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "testing/job.hpp"
#include "testing/matching_plan.hpp"
#include "testing/watchdog.hpp"

namespace {

using heddle::testing::MatchingPlan;
using heddle::testing::other_world;
using heddle::testing::run_job;
using heddle::testing::Watchdog;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int slower = 40;  // a sanitizer checks every access instead
#else
constexpr int slower = 1;
#endif

constexpr int finished = -1;  ///< value of a thread's last message

void send(int value, int tag, MPI_Comm comm = MPI_COMM_WORLD) {
    MPI_Send(&value, 1, MPI_INT, 1, tag, comm);
}

int receive(int tag, MPI_Comm comm = MPI_COMM_WORLD) {
    int value = -7;
    MPI_Recv(&value, 1, MPI_INT, 0, tag, comm, MPI_STATUS_IGNORE);
    return value;
}

/// Ends the program. Otherwise the ranks would wait for each other for ever.
[[noreturn]] void wrong_order(int got, int expected) {
    std::fprintf(stderr, "message %d came instead of %d\n", got, expected);
    std::_Exit(1);
}

// --- one thread, one tag ---

TEST(Order, of_each_sending_thread) {
    constexpr int threads = 4, each = 500'000 / slower;
    Watchdog watchdog("order of each sending thread");
    run_job(2, threads, [&](int rank, int thread) {
        for (int i = 0; i < each; ++i) {
            if (rank == 0)
                send(i, thread);
            else
                ASSERT_EQ(receive(thread), i);
            if (i % 1024 == 0) watchdog.progress();
        }
    });
}

TEST(Order, of_each_sending_thread_into_receives_posted_ahead) {
    constexpr int threads = 3, window = 64, rounds = 3000 / slower;
    Watchdog watchdog("receives posted ahead");
    run_job(2, threads, [&](int rank, int thread) {
        std::array<int, window> values{};
        std::array<MPI_Request, window> requests;
        for (int round = 0; round < rounds; ++round) {
            for (int i = 0; i < window; ++i) {
                int& value = values[static_cast<std::size_t>(i)];
                MPI_Request& request = requests[static_cast<std::size_t>(i)];
                value = rank == 0 ? round * window + i : -1;
                if (rank == 0)
                    MPI_Isend(&value, 1, MPI_INT, 1, thread, MPI_COMM_WORLD, &request);
                else
                    MPI_Irecv(&value, 1, MPI_INT, 0, thread, MPI_COMM_WORLD, &request);
            }
            MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
            for (int i = 0; i < window; ++i)
                ASSERT_EQ(values[static_cast<std::size_t>(i)], round * window + i);
            watchdog.progress();
        }
    });
}

TEST(Order, of_sizes_that_take_different_protocols) {
    // Eager messages, wraps around the ring's end, and rendezvous, one behind another under one
    // tag.
    constexpr int count = 20'000 / slower;
    Watchdog watchdog("different protocols");
    run_job(2, 1, [&](int rank, int) {
        std::mt19937 random(11);
        std::vector<int> data(20'000);
        for (int i = 0; i < count; ++i) {
            static constexpr std::array<int, 8> sizes{1, 8, 9, 24, 400, 2048, 2049, 20'000};
            const int size = sizes[random() % sizes.size()];
            data[0] = rank == 0 ? i : -1;
            MPI_Status status;
            if (rank == 0)
                MPI_Send(data.data(), size, MPI_INT, 1, 0, MPI_COMM_WORLD);
            else
                MPI_Recv(data.data(), 20'000, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            ASSERT_EQ(data[0], i);
            watchdog.progress();
        }
    });
}

// --- threads that synchronise, seen through MPI_ANY_TAG ---

/// Orders the sends of rank 0: its threads take numbers and send them under tags of their choice.
/// pass() returns false when all numbers are gone.
class ByMutex {
public:
    explicit ByMutex(int count) : count_(count) {}
    template <class Send>
    bool pass(int, Send&& send_number) {
        std::lock_guard guard(mutex_);
        if (next_ == count_) return false;
        send_number(next_++);
        return true;
    }

private:
    std::mutex mutex_;
    int next_ = 0;
    const int count_;
};

/// Each thread sends a few numbers and hands over to the next one by one store.
template <bool yielding>
class ByFlag {
public:
    ByFlag(int threads, int count) : threads_(threads), count_(count) {}
    template <class Send>
    bool pass(int thread, Send&& send_number) {
        int now = turn_.load(std::memory_order_acquire);
        for (int spins = 0;
             now % threads_ != thread && next_.load(std::memory_order_relaxed) < count_;) {
            // Without yielding, this thread sees the store as soon as it can be seen.
            if (yielding || ++spins % 512 == 0) std::this_thread::yield();
            now = turn_.load(std::memory_order_acquire);
        }
        const int number = next_.load(std::memory_order_relaxed);
        if (number >= count_) return false;
        if (now % threads_ != thread) return true;
        const int burst = number % 7 == 0 ? 1 : 3;
        for (int i = 0; i < burst && number + i < count_; ++i) send_number(number + i);
        next_.store(number + burst, std::memory_order_relaxed);
        turn_.store(now + 1, std::memory_order_release);
        return true;
    }

private:
    std::atomic<int> turn_{0};
    std::atomic<int> next_{0};
    const int threads_;
    const int count_;
};

enum class Receives { blocking, posted_ahead, piled_up };

/// Expects a wildcard receive of rank 1 to see 0, 1, 2, ... in this order.
template <class Turnstile>
void ordered_senders(Turnstile turnstile, int threads, int count, Receives receives,
                     const char* what) {
    Watchdog watchdog(what);
    std::atomic<int> sent{0}, received{0};
    run_job(2, threads, [&](int rank, int thread) {
        if (rank == 0) {
            std::minstd_rand random(static_cast<unsigned>(thread) + 1);
            while (turnstile.pass(thread, [&](int number) {
                // Piled up: rank 1 does not receive before a batch is complete.
                while (receives == Receives::piled_up &&
                       number - received.load(std::memory_order_relaxed) >= 1000)
                    std::this_thread::yield();
                send(number, static_cast<int>(random() % 200));
                sent.store(number + 1, std::memory_order_release);
            })) {}
            return;
        }
        if (thread != 0) return;
        constexpr int window = 32;
        std::deque<std::pair<int, MPI_Request>> ahead;
        for (int i = 0, posted = 0; i < count; ++i) {
            int value = -7;
            if (receives == Receives::posted_ahead) {
                for (; posted < count && posted < i + window; ++posted) {
                    auto& [place, request] = ahead.emplace_back();
                    MPI_Irecv(&place, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
                }
                MPI_Wait(&ahead.front().second, MPI_STATUS_IGNORE);
                value = ahead.front().first;
                ahead.pop_front();
            } else {
                while (receives == Receives::piled_up && i % 1000 == 0 &&
                       sent.load(std::memory_order_acquire) < std::min(count, i + 1000))
                    std::this_thread::yield();
                value = receive(MPI_ANY_TAG);
            }
            received.store(i + 1, std::memory_order_relaxed);
            if (value != i) wrong_order(value, i);
            if (i % 256 == 0) watchdog.progress();
        }
    });
}

constexpr int numbers = 400'000 / slower;
// Beside other programs each hand-over may take a time slice of the scheduler.
constexpr int handed_over = numbers / 8;

TEST(Order, of_threads_behind_a_mutex_blocking) {
    ordered_senders(ByMutex(numbers), 3, numbers, Receives::blocking, "mutex, blocking");
}
TEST(Order, of_threads_behind_a_mutex_posted_ahead) {
    ordered_senders(ByMutex(numbers), 3, numbers, Receives::posted_ahead, "mutex, posted ahead");
}
TEST(Order, of_threads_behind_a_mutex_piled_up) {
    ordered_senders(ByMutex(numbers), 3, numbers, Receives::piled_up, "mutex, piled up");
}
TEST(Order, of_threads_that_pass_a_flag_spinning) {
    ordered_senders(ByFlag<false>(2, handed_over), 2, handed_over, Receives::blocking,
                    "flag, spinning");
}
TEST(Order, of_threads_that_pass_a_flag_spinning_posted_ahead) {
    ordered_senders(ByFlag<false>(2, handed_over), 2, handed_over, Receives::posted_ahead,
                    "flag, posted ahead");
}
TEST(Order, of_threads_that_pass_a_flag_yielding) {
    ordered_senders(ByFlag<true>(3, handed_over / 2), 3, handed_over / 2, Receives::blocking,
                    "flag, yielding");
}

TEST(Order, of_messages_that_wait_for_room_in_a_ring) {
    // Sends more than a ring holds under one tag, then one message under another tag, whose ring is
    // empty.
    constexpr int many = 3000, rounds = 5;
    Watchdog watchdog("messages that wait for room");
    std::atomic<int> sent{0};
    run_job(2, 1, [&](int rank, int) {
        for (int round = 0; round < rounds; ++round) {
            std::vector<int> values(many + 8);
            std::vector<MPI_Request> requests(values.size());
            for (int i = 0; i < many + 8; ++i) {
                const auto at = static_cast<std::size_t>(i);
                if (rank == 0) {
                    values[at] = i;
                    MPI_Isend(&values[at], 1, MPI_INT, 1, i < many ? 0 : i, MPI_COMM_WORLD,
                              &requests[at]);
                    continue;
                }
                while (sent.load(std::memory_order_acquire) <= round) std::this_thread::yield();
                if (const int got = receive(MPI_ANY_TAG); got != i) wrong_order(got, i);
            }
            if (rank == 0) {
                sent.store(round + 1, std::memory_order_release);
                MPI_Waitall(many + 8, requests.data(), MPI_STATUSES_IGNORE);
                int seen = -1;
                MPI_Recv(&seen, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Send(&round, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
            }
            watchdog.progress();
        }
    });
}

// --- exact receives and wildcards mixed ---

MatchingPlan make_plan(std::mt19937& random, int count) {
    std::vector<int> sends, wanted;
    for (int i = 0; i < count; ++i) {
        sends.push_back(static_cast<int>(random() % 6));
        wanted.push_back(random() % 3 == 0 ? MPI_ANY_TAG : static_cast<int>(random() % 6));
    }
    return {std::move(sends), wanted};
}

TEST(Order, of_exact_receives_and_wildcards_as_the_plain_rule_says) {
    constexpr int rounds = 4000 / slower;
    Watchdog watchdog("exact receives and wildcards");
    std::atomic<bool> over{false};
    run_job(2, 2, [&](int rank, int thread) {
        std::mt19937 random(5);
        if (thread == 1) {
            // The other thread makes progress all the time, in another communicator.
            const MPI_Comm other = other_world(1);
            for (int i = 0; !over.load(); ++i) {
                int value = i;
                if (rank == 0) {
                    MPI_Request request;
                    MPI_Irecv(&value, 1, MPI_INT, 0, i % 20, MPI_COMM_SELF, &request);
                    MPI_Send(&i, 1, MPI_INT, 0, i % 20, MPI_COMM_SELF);
                    MPI_Wait(&request, MPI_STATUS_IGNORE);
                } else {
                    MPI_Request request;
                    MPI_Irecv(&value, 1, MPI_INT, 0, i % 20, other, &request);
                    int done = 0;
                    for (int test = 0; test < 10; ++test)
                        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
                    MPI_Cancel(&request);
                    MPI_Wait(&request, MPI_STATUS_IGNORE);
                }
            }
            return;
        }
        for (int round = 0; round < rounds; ++round) {
            const MatchingPlan plan = make_plan(random, 150);
            const std::size_t count = plan.sends.size();
            std::vector<int> values(count, -7);
            std::vector<MPI_Request> requests(count);
            for (std::size_t i = 0; i < count; ++i) {
                if (rank == 0) {
                    values[i] = static_cast<int>(i);
                    MPI_Isend(&values[i], 1, MPI_INT, 1, plan.sends[i], MPI_COMM_WORLD,
                              &requests[i]);
                } else {
                    MPI_Irecv(&values[i], 1, MPI_INT, i % 2 == 0 ? 0 : MPI_ANY_SOURCE,
                              plan.receives[i], MPI_COMM_WORLD, &requests[i]);
                }
            }
            MPI_Waitall(static_cast<int>(count), requests.data(), MPI_STATUSES_IGNORE);
            if (rank == 1 && values != plan.gets) {
                std::fprintf(stderr, "round %d: a receive got another one's message\n", round);
                std::_Exit(1);
            }
            // Otherwise the next round's first messages could meet this round's last receives.
            if (rank == 1)
                MPI_Send(&round, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
            else
                MPI_Recv(&round, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            watchdog.progress();
        }
        over.store(true);
    });
}

// --- many threads with MPI_ANY_TAG ---

/// Messages from one thread to another must come in order, and each message once.
void many_wildcards(int threads, int communicators, int each, const char* what) {
    Watchdog watchdog(what);
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(threads * each));
    run_job(2, threads, [&](int rank, int thread) {
        const int group = thread % communicators;
        const MPI_Comm comm =
            group == 0 ? MPI_COMM_WORLD : other_world(static_cast<std::uint32_t>(group));
        std::minstd_rand random(static_cast<unsigned>(thread) + 1);
        std::vector<int> latest(static_cast<std::size_t>(threads), -1);
        for (int i = 0; i < each; ++i) {
            if (i % 128 == 0) watchdog.progress();
            if (rank == 0) {
                const std::array<int, 2> message{thread, i};
                MPI_Send(message.data(), 2, MPI_INT, 1, static_cast<int>(random() % 100), comm);
                continue;
            }
            std::array<int, 2> message{};
            MPI_Recv(message.data(), 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                     MPI_STATUS_IGNORE);
            int& last = latest[static_cast<std::size_t>(message[0])];
            if (message[0] % communicators != group || message[1] <= last) {
                std::fprintf(stderr, "thread %d got message %d of thread %d after %d\n", thread,
                             message[1], message[0], last);
                std::_Exit(1);
            }
            last = message[1];
            seen[static_cast<std::size_t>(message[0] * each + message[1])].fetch_add(1);
        }
    });
    for (const auto& times : seen) ASSERT_EQ(times.load(), 1);
}

TEST(Order, of_many_threads_with_wildcards_on_one_communicator) {
    many_wildcards(4, 1, 100'000 / slower, "wildcards on one communicator");
}
TEST(Order, of_many_threads_with_wildcards_on_two_communicators) {
    many_wildcards(4, 2, 20'000 / slower, "wildcards on two communicators");
}

TEST(Order, of_wildcards_while_other_threads_answer_the_mailbox) {
    // Rings that have been idle for a while are announced by their senders. Threads with exact
    // receives answer while another one looks with MPI_ANY_TAG.
    constexpr int count = 200'000 / slower;
    Watchdog watchdog("wildcards and the mailbox");
    std::atomic<bool> over{false};
    run_job(2, 3, [&](int rank, int thread) {
        if (thread == 0) {
            std::minstd_rand random(9);
            for (int i = 0; i < count; ++i) {
                if (rank == 0)
                    send(i, static_cast<int>(random() % 64));
                else if (const int got = receive(MPI_ANY_TAG); got != i)
                    wrong_order(got, i);
                if (i % 64 == 0) {  // a pause, in which rings become cold
                    if (rank == 1)
                        MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
                    else
                        MPI_Recv(&i, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    watchdog.progress();
                }
            }
            if (rank == 0) over.store(true);
            return;
        }
        const MPI_Comm other = other_world(static_cast<std::uint32_t>(thread));
        for (int i = 0;; ++i) {
            int value = over.load() ? finished : i;
            if (rank == 0)
                MPI_Send(&value, 1, MPI_INT, 1, i % 64, other);
            else
                MPI_Recv(&value, 1, MPI_INT, 0, i % 64, other, MPI_STATUS_IGNORE);
            if (rank == 1)
                MPI_Send(&value, 1, MPI_INT, 0, i % 64, other);
            else
                MPI_Recv(&value, 1, MPI_INT, 1, i % 64, other, MPI_STATUS_IGNORE);
            if (value == finished) break;
        }
    });
}

TEST(Order, of_wildcards_while_other_threads_come_and_go) {
    // The receiving thread is alone in its process at times, and at times not
    // (sync/lone_thread.hpp).
    constexpr int count = 200'000 / slower;
    Watchdog watchdog("wildcards while threads come and go");
    std::atomic<bool> over{false};
    run_job(2, 1, [&](int rank, int) {
        std::minstd_rand random(5);
        const auto exchange = [&] {
            for (int i = 0; i < count; ++i) {
                if (rank == 0)
                    send(i, static_cast<int>(random() % 64));
                else if (const int got = receive(MPI_ANY_TAG); got != i)
                    wrong_order(got, i);
                if (i % 64 == 0) watchdog.progress();
            }
        };
        if (rank == 0) return exchange();
        heddle::objects::Process& process = *heddle::objects::current_thread->process;
        const auto visit = [&process](unsigned number) {
            heddle::objects::attach(process);
            const MPI_Comm other = other_world(1);
            for (unsigned i = 0; i < number % 8; ++i) {
                int value = -1;
                MPI_Sendrecv(&i, 1, MPI_UNSIGNED, 1, static_cast<int>(number + i) % 64, &value, 1,
                             MPI_INT, 1,
                             i % 2 == 0 ? MPI_ANY_TAG : static_cast<int>(number + i) % 64, other,
                             MPI_STATUS_IGNORE);
                if (value != static_cast<int>(i)) wrong_order(value, static_cast<int>(i));
            }
        };
        std::thread other([&] {
            for (unsigned number = 0; !over.load(); ++number) std::thread(visit, number).join();
        });
        exchange();
        over.store(true);
        other.join();
    });
}

// --- deferred messages ---

int instance_of(MPI_Comm comm, int tag) {
    const std::uint32_t context = reinterpret_cast<heddle::objects::Communicator*>(comm)->context;
    return heddle::objects::attached_thread()->engine->instance_of(context, tag);
}

/// A wildcard of one communicator has everything taken from the rings. Another communicator never
/// had a wildcard. A message of it is deferred then, since an earlier one waits for room. Later
/// messages of its ring come after it.
TEST(Order, of_exact_receives_when_a_wildcard_elsewhere_defers_messages) {
    // On one node: messages between nodes are never deferred.
    constexpr int many = 700, full = 0, deferred = 1;  // more than a ring holds; two tags
    Watchdog watchdog("messages deferred for the sake of another communicator");
    std::atomic<int> step{0};
    const auto reach = [&](int number) {
        step.store(number);
        watchdog.progress();
    };
    const auto await = [&](int number) {
        while (step.load() < number) std::this_thread::yield();
    };
    run_job({.nodes = {0, 0}}, [&](int rank, int) {
        const MPI_Comm exact = other_world(1), wild = other_world(2);
        int tag = 0;  // by another ring than those of the test
        while (instance_of(wild, tag) == instance_of(exact, full) ||
               instance_of(wild, tag) == instance_of(exact, deferred))
            ++tag;
        if (rank == 0) {
            send(-1, tag, wild);  // every ring and communicator has been used
            send(-1, tag + 1, wild);
            send(-1, full, exact);
            send(-1, deferred, exact);
            await(1);
            std::vector<int> values(many);
            std::vector<MPI_Request> requests(many);
            for (int i = 0; i < many; ++i) {
                const auto at = static_cast<std::size_t>(i);
                values[at] = i;
                MPI_Isend(&values[at], 1, MPI_INT, 1, full, exact, &requests[at]);
            }
            send(0, deferred, exact);
            send(7, tag, wild);
            reach(2);
            await(3);
            send(1, deferred, exact);
            reach(4);
            await(5);
            MPI_Waitall(many, requests.data(), MPI_STATUSES_IGNORE);
            return;
        }
        for (const int one : {tag, tag + 1}) EXPECT_EQ(receive(one, wild), -1);
        for (const int one : {full, deferred}) EXPECT_EQ(receive(one, exact), -1);
        std::array<int, 2> values{-7, -7};
        std::array<MPI_Request, 2> requests;
        for (std::size_t i = 0; i < 2; ++i)
            MPI_Irecv(&values[i], 1, MPI_INT, 0, deferred, exact, &requests[i]);
        reach(1);
        await(2);
        EXPECT_EQ(receive(MPI_ANY_TAG, wild), 7);
        reach(3);
        await(4);
        int done = 0;
        for (int i = 0; i < 10 && done == 0; ++i)
            MPI_Test(requests.data(), &done, MPI_STATUS_IGNORE);
        EXPECT_EQ(done, 0) << "what was sent before it is blocked";
        reach(5);
        for (int i = 0; i < many; ++i) ASSERT_EQ(receive(full, exact), i);
        if (done == 0) MPI_Wait(requests.data(), MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        EXPECT_EQ(values[0], 0);
        EXPECT_EQ(values[1], 1);
    });
}

// --- sleeping ---

TEST(Order, a_sender_that_waits_for_room_is_woken_although_another_thread_leads) {
    constexpr int many = 4000;
    Watchdog watchdog("a sender that waits for room");
    std::atomic<int> sent{0};
    run_job(2, 2, [&](int rank, int thread) {
        if (rank == 0 && thread == 0) {
            int value = -1;  // sleeps first, and listens for the process
            MPI_Recv(&value, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EXPECT_EQ(value, many);
        } else if (rank == 0) {
            for (int i = 0; i < many; ++i) {
                send(i, 3);
                sent.store(i + 1);
            }
        } else if (thread == 0) {
            // If no message has been sent for a while, the sender is asleep, most probably.
            for (int seen = -1; seen != sent.load() || seen == 0;) {
                seen = sent.load();
                std::this_thread::sleep_for(std::chrono::milliseconds{30});
            }
            for (int i = 0; i < many; ++i) {
                ASSERT_EQ(receive(3), i);
                watchdog.progress();
            }
            MPI_Send(&many, 1, MPI_INT, 0, 99, MPI_COMM_WORLD);
        }
    });
}

}  // namespace

// SPDX-License-Identifier: BSD-3-Clause
/// Messages between processes and threads, all in one address space (for ThreadSanitizer).

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <vector>

#include "mpi.h"
#include "testing/job.hpp"

namespace {

using heddle::testing::run_job;

std::vector<unsigned char> pattern(std::size_t bytes, unsigned seed) {
    std::vector<unsigned char> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        data[i] = static_cast<unsigned char>(i * 131 + seed * 17 + (i >> 8));
    return data;
}

void send_bytes(const std::vector<unsigned char>& data, int to, int tag) {
    ASSERT_EQ(
        MPI_Send(data.data(), static_cast<int>(data.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD),
        MPI_SUCCESS);
}

void expect(std::size_t bytes, unsigned seed, int from, int tag) {
    std::vector<unsigned char> got(bytes, 0xee);
    MPI_Status status;
    ASSERT_EQ(
        MPI_Recv(got.data(), static_cast<int>(bytes), MPI_BYTE, from, tag, MPI_COMM_WORLD, &status),
        MPI_SUCCESS);
    EXPECT_EQ(status.MPI_TAG, tag);
    EXPECT_EQ(got, pattern(bytes, seed));
}

constexpr std::size_t sizes[] = {0,  1,    31,   32,   33,   64,    96,
                                 97, 1000, 4096, 8192, 8193, 70000, 1 << 20};

TEST(Engine, every_size_goes_both_ways) {
    run_job(2, 1, [](int rank, int) {
        unsigned seed = 0;
        for (const std::size_t bytes : sizes) {
            ++seed;
            if (rank == 0) {
                send_bytes(pattern(bytes, seed), 1, 5);
                expect(bytes, seed + 100, 1, 6);
            } else {
                expect(bytes, seed, 0, 5);
                send_bytes(pattern(bytes, seed + 100), 0, 6);
            }
        }
    });
}

TEST(Engine, unexpected_messages_keep_their_order_and_content) {
    run_job(2, 1, [](int rank, int) {
        char ready = 0;
        if (rank == 0) {
            std::vector<MPI_Request> requests;
            std::vector<std::vector<unsigned char>> data;
            for (unsigned i = 0; i < 40; ++i) data.push_back(pattern(sizes[i % 14], i));
            for (unsigned i = 0; i < 40; ++i) {
                requests.emplace_back();
                MPI_Isend(data[i].data(), static_cast<int>(data[i].size()), MPI_BYTE, 1,
                          static_cast<int>(i % 3), MPI_COMM_WORLD, &requests.back());
            }
            MPI_Send(&ready, 1, MPI_CHAR, 1, 99, MPI_COMM_WORLD);
            MPI_Waitall(40, requests.data(), MPI_STATUSES_IGNORE);
        } else {
            MPI_Recv(&ready, 1, MPI_CHAR, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int tag = 2; tag >= 0; --tag)
                for (unsigned i = static_cast<unsigned>(tag); i < 40; i += 3)
                    expect(sizes[i % 14], i, 0, tag);
        }
    });
}

TEST(Engine, a_full_ring_holds_nobody_up) {
    // Both sides send far more than the rings hold before either of them receives.
    run_job(2, 1, [](int rank, int) {
        constexpr int count = 3000;
        std::vector<int> out(count), in(count, -1);
        std::vector<MPI_Request> requests(2 * count);
        for (int i = 0; i < count; ++i) {
            out[i] = rank * 100000 + i;
            MPI_Isend(&out[i], 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &requests[i]);
        }
        for (int i = 0; i < count; ++i)
            MPI_Irecv(&in[i], 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &requests[count + i]);
        MPI_Waitall(2 * count, requests.data(), MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; ++i) ASSERT_EQ(in[i], (1 - rank) * 100000 + i);
    });
}

TEST(Engine, both_sides_copy_many_large_messages_at_once) {
    run_job(2, 2, [](int rank, int thread) {
        constexpr int count = 12;  // more than can be shared at a time
        const auto size = [](int i) {
            return std::size_t{300'000} + static_cast<std::size_t>(i) * 77'777;
        };
        for (int round = 0; round < 3; ++round) {
            std::vector<std::vector<unsigned char>> out(count), in(count);
            std::vector<MPI_Request> requests(2 * count);
            for (int i = 0; i < count; ++i) {
                const auto number = static_cast<std::size_t>(i);
                in[number].resize(size(i));
                MPI_Irecv(in[number].data(), static_cast<int>(size(i)), MPI_BYTE, 1 - rank, thread,
                          MPI_COMM_WORLD, &requests[number]);
            }
            for (int i = 0; i < count; ++i) {
                const auto number = static_cast<std::size_t>(i);
                out[number] = pattern(size(i), static_cast<unsigned>(i + thread * 20));
                MPI_Isend(out[number].data(), static_cast<int>(size(i)), MPI_BYTE, 1 - rank, thread,
                          MPI_COMM_WORLD, &requests[count + number]);
            }
            MPI_Waitall(2 * count, requests.data(), MPI_STATUSES_IGNORE);
            for (int i = 0; i < count; ++i)
                EXPECT_EQ(in[static_cast<std::size_t>(i)],
                          pattern(size(i), static_cast<unsigned>(i + thread * 20)));
        }
    });
}

TEST(Engine, threads_told_apart_by_tag) {
    run_job(2, 4, [](int rank, int thread) {
        for (int round = 0; round < 200; ++round) {
            int value = round * 10 + thread;
            int got = -1;
            if (rank == 0) {
                MPI_Send(&value, 1, MPI_INT, 1, thread, MPI_COMM_WORLD);
                MPI_Recv(&got, 1, MPI_INT, 1, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(&got, 1, MPI_INT, 0, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(&value, 1, MPI_INT, 0, thread, MPI_COMM_WORLD);
            }
            ASSERT_EQ(got, value);
        }
    });
}

TEST(Engine, threads_that_share_a_tag) {
    // Each message arrives once, at any of the threads.
    constexpr int threads = 4, each = 300;
    std::vector<std::atomic<int>> seen(threads * each);
    run_job(2, threads, [&](int rank, int thread) {
        for (int i = 0; i < each; ++i) {
            int value = thread * each + i;
            if (rank == 0) {
                MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
            } else {
                MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                seen[static_cast<std::size_t>(value)].fetch_add(1);
            }
        }
    });
    for (auto& count : seen) ASSERT_EQ(count.load(), 1);
}

TEST(Engine, threads_of_one_process_talk_to_each_other) {
    run_job(1, 2, [](int, int thread) {
        unsigned seed = 0;
        for (const std::size_t bytes : sizes) {
            ++seed;
            if (thread == 0) {
                send_bytes(pattern(bytes, seed), 0, 1);
                expect(bytes, seed + 7, 0, 2);
            } else {
                expect(bytes, seed, 0, 1);
                send_bytes(pattern(bytes, seed + 7), 0, 2);
            }
        }
    });
}

TEST(Engine, any_tag_sees_the_order_of_a_thread) {
    run_job(2, 1, [](int rank, int) {
        constexpr int count = 2000;
        std::mt19937 random(static_cast<unsigned>(rank) + 3);
        for (int i = 0; i < count; ++i) {
            const int tag = static_cast<int>(random() % 50);
            if (rank == 0) {
                int value = i * 100 + tag;
                MPI_Send(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
            } else {
                int value = -1;
                MPI_Status status;
                MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
                ASSERT_EQ(value, i * 100 + status.MPI_TAG);
            }
        }
    });
}

TEST(Engine, synchronous_sends_wait_for_their_receive) {
    run_job(2, 1, [](int rank, int) {
        int value = 4;
        if (rank == 0) {
            MPI_Request request;
            int done = 1;
            MPI_Issend(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
            for (int i = 0; i < 100; ++i) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            EXPECT_EQ(done, 0);
            MPI_Send(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Ssend(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    });
}

TEST(Engine, blocking_calls_in_opposite_order_never_deadlock) {
    // P3, figure 1: each process has two threads; one sends first, the other receives first.
    run_job(2, 2, [](int rank, int thread) {
        const auto big = pattern(100000, 1);
        for (int round = 0; round < 20; ++round) {
            if ((thread == 0) == (rank == 0)) {
                send_bytes(big, 1 - rank, thread);
                expect(big.size(), 1, 1 - rank, 10 + thread);
            } else {
                expect(big.size(), 1, 1 - rank, thread);
                send_bytes(big, 1 - rank, 10 + thread);
            }
        }
    });
}

}  // namespace

// SPDX-License-Identifier: BSD-3-Clause
/// Tests messages through rings of payload between processes and threads, all in one address space
/// (for ThreadSanitizer). node/payload_ring_test.cpp tests the promises of the ring.

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "mpi.h"
#include "p2p/payload/incoming_stream.hpp"
#include "testing/job.hpp"

namespace {

using heddle::testing::run_job;
using Bytes = std::vector<unsigned char>;

constexpr int sizes[] = {3000, 20'000, 8192, 70'000, 300'000, 16'384, 2'500'000};
constexpr int size_of(int number) { return sizes[number % 7]; }

Bytes pattern(int bytes, int seed) {
    Bytes data(static_cast<std::size_t>(bytes));
    for (int i = 0; i < bytes; ++i)
        data[static_cast<std::size_t>(i)] =
            static_cast<unsigned char>(i * 131 + seed * 17 + (i >> 8));
    return data;
}

/// Sends so much that the channel gets its ring.
void warm(int rank, int tag) {
    Bytes data(8000);
    for (int i = 0; i < 40; ++i)
        MPI_Sendrecv_replace(data.data(), 8000, MPI_BYTE, 1 - rank, tag, 1 - rank, tag,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

TEST(Streams, go_both_ways_between_several_threads) {
    run_job(2, 3, [](int rank, int thread) {
        warm(rank, thread);
        for (int i = 0; i < 14; ++i) {
            const Bytes out = pattern(size_of(i), i + rank);
            Bytes in(out.size());
            MPI_Sendrecv(out.data(), size_of(i), MPI_BYTE, 1 - rank, thread, in.data(), size_of(i),
                         MPI_BYTE, 1 - rank, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            ASSERT_EQ(in, pattern(size_of(i), i + 1 - rank)) << i;
        }
    });
}

TEST(Streams, of_one_channel_are_sent_by_threads_in_turn) {
    run_job(2, 3, [](int rank, int thread) {
        // Context and tag name the ring; the sizes tell the threads' messages apart.
        constexpr int tag = 5, count = 10;
        if (rank == 0) {
            for (int i = 0; i < count; ++i) {
                const Bytes out = pattern(50'000 + thread, thread);
                MPI_Send(out.data(), 50'000 + thread, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
            }
            return;
        }
        for (int i = 0; i < count; ++i) {
            Bytes in(60'000);
            MPI_Status status;
            int bytes = 0;
            MPI_Recv(in.data(), 60'000, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &bytes);
            in.resize(static_cast<std::size_t>(bytes));
            ASSERT_EQ(in, pattern(bytes, bytes - 50'000));
        }
    });
}

TEST(Streams, that_fill_the_ring_before_anything_is_received_come_otherwise) {
    run_job(2, 1, [](int rank, int) {
        constexpr int tag = 3, count = 70, bytes = 100'000;
        warm(rank, tag);
        char token = 0;
        if (rank == 0) {
            const Bytes out = pattern(bytes, 1);
            std::vector<MPI_Request> requests(count);
            for (MPI_Request& request : requests)
                MPI_Isend(out.data(), bytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
            MPI_Send(&token, 1, MPI_CHAR, 1, 99, MPI_COMM_WORLD);
            MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
            return;
        }
        MPI_Recv(&token, 1, MPI_CHAR, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < count; ++i) {
            Bytes in(bytes);
            MPI_Recv(in.data(), bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            ASSERT_EQ(in, pattern(bytes, 1)) << i;
        }
    });
}

/// The sender has lost its core in the middle of a piece, which was read out of its memory. The
/// receiver must not take the pieces stored before for new ones, and spin.
TEST(Streams, that_run_ahead_of_their_sender_find_nothing_stored) {
    using heddle::node::Piece;
    const auto ring = std::make_unique<heddle::node::PayloadRing>();
    const heddle::node::PayloadConsumer consumer(*ring);
    heddle::node::PayloadProducer producer(*ring, sizeof ring->data);
    consumer.be_ready();
    ASSERT_TRUE(producer.is_ready());
    const Bytes data = pattern(300'000, 1);
    const std::optional<unsigned> manifest = producer.take_manifest();
    ASSERT_TRUE(manifest);
    const heddle::node::Room room = producer.claim(*manifest, 0, data.size());
    ASSERT_GT(room.bytes, room.first.bytes) << "several pieces";

    heddle::p2p::IncomingStream stream(consumer, *manifest, nullptr, data.size(), 0);
    ASSERT_EQ(stream.close(), room.bytes);
    (void)stream.unstored();
    stream.skip();
    EXPECT_EQ(stream.taken(), room.first.bytes);
    EXPECT_FALSE(stream.take());
    (void)stream.unstored();
    EXPECT_TRUE(stream.stored_nothing_more());

    std::uint64_t stored = 0;
    for (Piece piece = room.first; stored < room.bytes;
         piece = producer.next_piece(piece, room.bytes - stored)) {
        producer.store(piece, reinterpret_cast<const std::byte*>(data.data()) + stored);
        stored += piece.bytes;
        producer.publish(*manifest, stored);
        EXPECT_EQ(stream.take(), stored > room.first.bytes);
    }
    EXPECT_EQ(stream.taken(), room.bytes);
}

}  // namespace

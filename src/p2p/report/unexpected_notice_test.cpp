// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/report/unexpected_notice.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "mpi.h"
#include "node/board.hpp"
#include "objects/process.hpp"
#include "testing/job.hpp"

namespace heddle::p2p {
namespace {

constexpr int awaited = 13, near_by = 14, go_on = 15;

void send(int to, int tag) { MPI_Send(nullptr, 0, MPI_INT, to, tag, MPI_COMM_WORLD); }
void receive(int from, int tag) {
    MPI_Recv(nullptr, 0, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Waits for the first list on the page of the calling thread's process. There is no other one as
/// long as no message comes or goes.
const node::UnexpectedMessages& first_list() {
    const node::Page& page = *objects::current_thread->page;
    while (page.unexpected_version.load(acquire) != 2) std::this_thread::yield();
    return page.unexpected;
}

TEST(UnexpectedNotice, of_a_sleeping_process_lists_the_message_that_no_receive_awaits) {
    heddle::testing::run_job(2, 2, [](int rank, int thread) {
        if (rank == 1 && thread == 0) {
            send(0, near_by);
            receive(0, go_on);
            send(0, awaited);
        } else if (rank == 0 && thread == 0) {
            receive(1, awaited);
            receive(1, near_by);
        } else if (rank == 0) {
            const node::UnexpectedMessages& list = first_list();
            EXPECT_EQ(list.listed[0].messages, 1U);
            EXPECT_EQ(list.listed[0].source, 1);
            EXPECT_EQ(list.listed[0].world_source, 1);
            EXPECT_EQ(list.listed[0].tag, near_by);
            EXPECT_EQ(list.listed[1].messages, 0U);
            send(1, go_on);
        }
    });
}

TEST(UnexpectedNotice, is_written_again_with_the_name_that_its_communicator_has_got) {
    std::atomic<const node::Page*> page{nullptr};
    heddle::testing::run_job(2, 2, [&](int rank, int thread) {
        static MPI_Comm halo;  // of rank 0
        if (thread == 0) {
            MPI_Comm own;
            MPI_Comm_dup(MPI_COMM_WORLD, &own);
            if (rank == 0) {
                halo = own;
                send(1, go_on);
            } else {
                receive(0, go_on);
                MPI_Send(nullptr, 0, MPI_INT, 0, near_by, own);
            }
            receive(1 - rank, awaited);
            if (rank == 0) MPI_Recv(nullptr, 0, MPI_INT, 1, near_by, own, MPI_STATUS_IGNORE);
            MPI_Comm_free(&own);
        } else if (rank == 0) {
            EXPECT_STREQ(first_list().listed[0].communicator, "");
            MPI_Comm_set_name(halo, "halo");
            page.store(objects::current_thread->page);
            receive(1, go_on);  // sleeps for so long that it writes again
            send(1, awaited);
        } else {
            while (page.load() == nullptr || page.load()->unexpected_version.load(acquire) != 4)
                std::this_thread::yield();
            EXPECT_STREQ(page.load()->unexpected.listed[0].communicator, "halo");
            send(0, go_on);
            send(0, awaited);
        }
    });
}

}  // namespace
}  // namespace heddle::p2p

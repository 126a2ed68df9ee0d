// SPDX-License-Identifier: BSD-3-Clause
/// Tests objects that threads make, share, use and free at once: with ThreadSanitizer, and by
/// counts.

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "mpi.h"
#include "testing/job.hpp"

namespace {

using heddle::testing::run_job;

constexpr int ranks = 2;
constexpr int threads = 4;
constexpr int rounds = 60;

std::atomic<int> deletions{0};

int note_deletion(MPI_Comm, int, void*, void*) {
    deletions.fetch_add(1, std::memory_order_relaxed);
    return MPI_SUCCESS;
}
void ignore(MPI_Comm*, int*, ...) {}

void ring(MPI_Comm comm, int what) {
    int me = 0;
    int size = 0;
    int got = -1;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(&what, 1, MPI_INT, (me + 1) % size, what, &got, 1, MPI_INT, (me + size - 1) % size,
                 what, comm, MPI_STATUS_IGNORE);
    ASSERT_EQ(got, what);
}

/// Makes, uses and frees communicators of the thread's own, with attributes.
void make_communicators(MPI_Comm mine, int keyval, int round) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_set_attr(mine, keyval, &round);
    MPI_Comm_dup(mine, &copy);
    MPI_Comm_split(copy, round % 2, 0, &part);
    void* value = nullptr;
    int flag = 0;
    MPI_Comm_get_attr(copy, keyval, &value, &flag);
    ASSERT_TRUE(flag != 0 && value == &round);
    ring(part, round);
    MPI_Comm_free(&copy);
    ring(part, round);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_idup(part, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&part);
    ring(copy, round);
    MPI_Comm_free(&copy);
}

/// Uses one communicator like all other threads.
void use_shared(MPI_Comm shared, int keyval, int thread) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(ignore, &handler);
    MPI_Comm_set_errhandler(shared, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_get_errhandler(shared, &handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_call_errhandler(shared, MPI_ERR_OTHER);
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    MPI_Comm_set_name(shared, ("thread " + std::to_string(thread)).c_str());
    MPI_Comm_get_name(shared, name, &length);
    ASSERT_EQ(length, 8);
    int value = 0;
    int flag = 0;
    void* got = nullptr;
    MPI_Comm_set_attr(shared, keyval, &value);
    MPI_Comm_get_attr(shared, keyval, static_cast<void*>(&got), &flag);
    ASSERT_TRUE(flag != 0 && got == &value);  // each thread has a key of its own
    MPI_Comm_delete_attr(shared, keyval);
}

/// Changes hints, which the messages of the other threads read meanwhile.
void change_hints(MPI_Comm shared, bool value) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info copy = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_allow_overtaking", value ? "true" : "false");
    MPI_Info_dup(info, &copy);
    MPI_Info_free(&info);
    MPI_Comm_set_info(shared, copy);
    MPI_Info_free(&copy);
    MPI_Comm_get_info(shared, &info);
    MPI_Info_free(&info);
}

void use_groups(MPI_Group shared) {
    MPI_Group first = MPI_GROUP_NULL;
    MPI_Group both = MPI_GROUP_NULL;
    const int zero = 0;
    MPI_Group_incl(shared, 1, &zero, &first);
    MPI_Group_union(first, shared, &both);
    int result = -1;
    MPI_Group_compare(both, shared, &result);
    ASSERT_EQ(result, MPI_IDENT);
    MPI_Group_free(&both);
    MPI_Group_free(&first);
}

void use_sessions_and_types(int keyval) {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Session_finalize(&session);
    MPI_Group_free(&group);  // it held the session
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_attr(type, keyval, &session);
    MPI_Type_dup(type, &copy);
    MPI_Type_free(&type);
    void* value = nullptr;
    int flag = 0;
    MPI_Type_get_attr(copy, keyval, static_cast<void*>(&value), &flag);
    ASSERT_TRUE(flag != 0 && value == &session);
    MPI_Type_free(&copy);
}

TEST(Objects, are_made_shared_and_freed_by_threads_at_once) {
    deletions = 0;
    run_job(ranks, threads, [](int, int thread) {
        MPI_Group world = MPI_GROUP_NULL;
        MPI_Comm mine = MPI_COMM_NULL;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Comm_create_from_group(world, std::to_string(thread).c_str(), MPI_INFO_NULL,
                                   MPI_ERRORS_ARE_FATAL, &mine);
        int keyval = MPI_KEYVAL_INVALID;
        int type_keyval = MPI_KEYVAL_INVALID;
        MPI_Comm_create_keyval(MPI_COMM_DUP_FN, note_deletion, &keyval, nullptr);
        MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &type_keyval, nullptr);
        for (int i = 0; i < rounds && !::testing::Test::HasFatalFailure(); ++i) {
            make_communicators(mine, keyval, i);
            use_shared(MPI_COMM_WORLD, keyval, thread);
            change_hints(MPI_COMM_WORLD, (i + thread) % 2 == 0);
            ring(MPI_COMM_WORLD, 1000 * (thread + 1) + i);
            use_groups(world);
            use_sessions_and_types(type_keyval);
        }
        MPI_Comm_free(&mine);
        MPI_Comm_free_keyval(&keyval);
        MPI_Type_free_keyval(&type_keyval);
        MPI_Group_free(&world);
    });
    // Each round deletes three values. One is on the communicator that is freed; one is replaced,
    // or freed with it; and one is deleted.
    EXPECT_EQ(deletions.load(), ranks * threads * rounds * 3);
}

}  // namespace

/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that wait for room at their sender belong to one communicator. The order on another one
 * holds meanwhile, and its messages do not wait. There is one thread on each side.
 *
 * Rank 0 fills a ring with messages of BUSY, and has more that find no room. It sends a first and a
 * second message on CALM, and calls MPI no more until rank 1 has looked. Rank 1 probes for the tag
 * of the second one, which fetches that one alone. Then it takes any, and must get the first one.
 *
 *     order_backlog [--undelayed]
 *
 * In most rounds of --undelayed the calm messages come while those of BUSY are stuck. In some they
 * share a ring with them, however many instances there are. */
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { rounds = 32, many = 600, looks = 100 };
enum { first_tag = 1000, second_tag = 2000, lonely_tag = 3000 };

static MPI_Comm busy, calm;

/* Maps a word that both ranks see. By it they wait for each other outside of MPI. */
static _Atomic int* shared_word(int rank) {
    char path[] = "/tmp/order_backlog_XXXXXX";
    int file = rank == 0 ? mkstemp(path) : -1;
    OK(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (rank == 0)
        CHECK(ftruncate(file, sizeof(int)) == 0);
    else
        CHECK((file = open(path, O_RDWR)) >= 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    _Atomic int* word = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(word != MAP_FAILED);
    close(file);
    if (rank == 0) unlink(path);
    return word;
}

static void await(_Atomic int* word, int value) {
    while (atomic_load(word) < value) sched_yield();
}

static void send_round(int round, _Atomic int* word) {
    static int data[many + 3];
    MPI_Request requests[many + 3];
    for (int i = 0; i < many + 3; ++i) data[i] = i;
    for (int i = 0; i < many; ++i)
        OK(MPI_Isend(&data[i], 1, MPI_INT, 1, round, busy, &requests[i]));
    OK(MPI_Isend(&data[many], 1, MPI_INT, 1, lonely_tag + round, busy, &requests[many]));
    OK(MPI_Isend(&data[many + 1], 1, MPI_INT, 1, first_tag + round, calm, &requests[many + 1]));
    OK(MPI_Isend(&data[many + 2], 1, MPI_INT, 1, second_tag + round, calm, &requests[many + 2]));
    atomic_store(word, 2 * round + 1);
    await(word, 2 * round + 2);
    OK(MPI_Waitall(many + 3, requests, MPI_STATUSES_IGNORE));
}

/* The state of taking the next calm message. Rank 1 has several methods, by turns. */
struct Taking {
    int source, value;
    MPI_Status status;
    MPI_Request request;
};

static void begin_taking(struct Taking* taking, int round) {
    taking->source = round % 2 == 0 ? 0 : MPI_ANY_SOURCE;
    taking->request = MPI_REQUEST_NULL;
    if (round % 3 == 0)
        OK(MPI_Irecv(&taking->value, 1, MPI_INT, taking->source, MPI_ANY_TAG, calm,
                     &taking->request));
}

/* Takes the message if it can. Returns true if it has. */
static int take(struct Taking* taking, int round) {
    int flag = 0;
    MPI_Message message;
    switch (round % 3) {
        case 0: OK(MPI_Test(&taking->request, &flag, &taking->status)); break;
        case 1:
            OK(MPI_Iprobe(taking->source, MPI_ANY_TAG, calm, &flag, &taking->status));
            if (flag)
                OK(MPI_Recv(&taking->value, 1, MPI_INT, 0, MPI_ANY_TAG, calm, &taking->status));
            break;
        default:
            OK(MPI_Improbe(taking->source, MPI_ANY_TAG, calm, &flag, &message, &taking->status));
            if (flag) OK(MPI_Mrecv(&taking->value, 1, MPI_INT, &message, &taking->status));
    }
    return flag;
}

static void expect(const char* what, int round, const MPI_Status* status, int tag, int value,
                   int expected) {
    if (status->MPI_TAG == tag && value == expected) return;
    fprintf(stderr, "round %d, %s: message %d with tag %d came instead of %d with tag %d\n", round,
            what, value, status->MPI_TAG, expected, tag);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Receives a round. Returns true if both calm messages came while the sender did nothing for
 * them. */
static int receive_round(int round, _Atomic int* word) {
    struct Taking taking;
    MPI_Status status;
    int fetched = 0, taken = 0, undelayed = 0, value = -1;
    await(word, 2 * round + 1);
    for (int i = 0; i < looks && !fetched; ++i)
        OK(MPI_Iprobe(0, second_tag + round, calm, &fetched, MPI_STATUS_IGNORE));
    begin_taking(&taking, round);
    for (int i = 0; i < looks && !taken; ++i) taken = take(&taking, round);
    undelayed = fetched && taken;
    atomic_store(word, 2 * round + 2);
    while (!taken) taken = take(&taking, round);
    expect("first on the calm one", round, &taking.status, first_tag + round, taking.value,
           many + 1);
    OK(MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, calm, &status));
    expect("second on the calm one", round, &status, second_tag + round, value, many + 2);
    for (int i = 0; i <= many; ++i) {
        OK(MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, busy, &status));
        expect("on the busy one", round, &status, i < many ? round : lonely_tag + round, value, i);
    }
    return undelayed;
}

int main(int argc, char** argv) {
    int rank, size, undelayed = 0;
    start(&rank, &size, MPI_THREAD_SINGLE);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &calm));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &busy));
    _Atomic int* word = shared_word(rank);
    for (int round = 0; round < rounds; ++round) {
        if (rank == 0) send_round(round, word);
        if (rank == 1) undelayed += receive_round(round, word);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    if (rank == 1 && argc > 1 && strcmp(argv[1], "--undelayed") == 0) {
        if (undelayed < rounds / 2)
            fprintf(stderr, "in %d rounds of %d nothing was delayed\n", undelayed, rounds);
        CHECK(undelayed >= rounds / 2);
    }
    munmap((void*)word, sizeof(int));
    OK(MPI_Comm_free(&busy));
    OK(MPI_Comm_free(&calm));
    return MPI_Finalize();
}

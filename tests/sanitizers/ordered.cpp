// SPDX-License-Identifier: BSD-3-Clause
/// Threads whose accesses to plain variables are ordered by MPI alone. A race detector must report
/// nothing.
///
/// On two ranks the order is between processes: rank 1 answers the messages of rank 0.

#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

extern "C" {
#include "../mpi/check.h"
}

namespace {

int rank, ranks;
constexpr int large = 300'000;  // ints: more than the eager limit

void together(const std::function<void()>& one, const std::function<void()>& other) {
    std::thread thread(one);
    other();
    thread.join();
}

/// The sender writes before it sends; the receiver reads and writes when it has received.
void send_and_receive(MPI_Comm comm) {
    for (const int count : {0, 1, 1000, large})
        for (const int tag : std::vector<int>{3, MPI_ANY_TAG})
            for (int form = 0; form < 5; ++form) {
                int plain = 0;
                std::vector<int> out(large), in(large);
                together(
                    [&] {
                        plain = 1;
                        out[0] = 7;
                        if (form % 2 == 0)
                            OK(MPI_Send(out.data(), count, MPI_INT, rank, 3, comm));
                        else
                            OK(MPI_Ssend(out.data(), count, MPI_INT, rank, 3, comm));
                        out[0] = 8;
                    },
                    [&] {
                        MPI_Request request = MPI_REQUEST_NULL;
                        MPI_Message message;
                        int flag = 0;
                        switch (form) {
                            case 0:
                                OK(MPI_Recv(in.data(), count, MPI_INT, rank, tag, comm,
                                            MPI_STATUS_IGNORE));
                                break;
                            case 1:
                                OK(MPI_Irecv(in.data(), count, MPI_INT, MPI_ANY_SOURCE, tag, comm,
                                             &request));
                                OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
                                break;
                            case 2:
                                OK(MPI_Irecv(in.data(), count, MPI_INT, rank, tag, comm, &request));
                                while (!flag) OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
                                break;
                            case 3:
                                OK(MPI_Probe(rank, tag, comm, MPI_STATUS_IGNORE));
                                CHECK(plain == 1);
                                OK(MPI_Recv(in.data(), count, MPI_INT, rank, tag, comm,
                                            MPI_STATUS_IGNORE));
                                break;
                            default:
                                OK(MPI_Mprobe(rank, tag, comm, &message, MPI_STATUS_IGNORE));
                                OK(MPI_Imrecv(in.data(), count, MPI_INT, &message, &request));
                                OK(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
                        }
                        CHECK(plain == 1);
                        if (count > 0) CHECK(in[0] == 7);
                        plain = 2;
                        in[0] = 9;
                    });
            }
}

/// A synchronous send is complete when its receive has started. Accesses before that receive are
/// ordered, too.
void synchronous_send(MPI_Comm comm) {
    for (int i = 0; i < 20; ++i) {
        int plain = 0, data = 0;
        together(
            [&] {
                OK(MPI_Ssend(&i, 1, MPI_INT, rank, 4, comm));
                CHECK(plain == 1);
                plain = 2;
            },
            [&] {
                plain = 1;
                OK(MPI_Recv(&data, 1, MPI_INT, rank, 4, comm, MPI_STATUS_IGNORE));
            });
    }
}

/// The answer comes through another process and communicator. This process cannot see that it is
/// one.
void round_trip(MPI_Comm there, MPI_Comm back) {
    if (rank == 1)
        for (int i = 0; i < 20; ++i) {
            int data = 0;
            OK(MPI_Recv(&data, 1, MPI_INT, 0, 5, there, MPI_STATUS_IGNORE));
            OK(MPI_Send(&data, 1, MPI_INT, 0, 6, back));
        }
    if (rank != 0) return;
    for (int i = 0; i < 20; ++i) {
        int plain = 0;
        together(
            [&] {
                plain = 1;
                OK(MPI_Send(&i, 1, MPI_INT, 1, 5, there));
            },
            [&] {
                int data = 0;
                OK(MPI_Recv(&data, 1, MPI_INT, 1, 6, back, MPI_STATUS_IGNORE));
                CHECK(plain == 1);
                plain = 2;
            });
    }
}

/// One thread makes progress for requests of the other. It fills its buffers, and frees memory of
/// its sends.
void progress_for_others(MPI_Comm comm, MPI_Comm other) {
    const int peer = ranks == 1 ? 0 : 1 - rank;
    const auto exchange = [&](MPI_Comm on) {
        for (int i = 0; i < 50; ++i) {
            const int count = i % 10 == 0 ? large : 100;
            std::vector<int> in(static_cast<std::size_t>(count), -1),
                out(static_cast<std::size_t>(count), i);
            MPI_Request requests[2];
            OK(MPI_Irecv(in.data(), count, MPI_INT, peer, 7, on, &requests[0]));
            OK(MPI_Isend(out.data(), count, MPI_INT, peer, 7, on, &requests[1]));
            OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            CHECK(in.back() == i);
            in.assign(in.size(), 0);
            out.assign(out.size(), 0);
        }
    };
    together([&] { exchange(comm); }, [&] { exchange(other); });
}

/// One thread starts, another completes; the program orders the two by a lock.
void hand_over(MPI_Comm comm) {
    std::mutex mutex;
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<int> in(large), out(large, 3);
    together(
        [&] {
            std::lock_guard guard(mutex);
            OK(MPI_Irecv(in.data(), large, MPI_INT, rank, 8, comm, &request));
        },
        [&] {
            OK(MPI_Send(out.data(), large, MPI_INT, rank, 8, comm));
            for (bool over = false; !over;) {
                std::lock_guard guard(mutex);
                if (request == MPI_REQUEST_NULL) continue;
                OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
                over = true;
            }
            CHECK(in[large - 1] == 3);
        });
}

void buffered(MPI_Comm comm) {
    const int bytes = 100 * (static_cast<int>(sizeof(int)) + MPI_BSEND_OVERHEAD);
    void* buffer = std::calloc(1, static_cast<std::size_t>(bytes));
    OK(MPI_Buffer_attach(buffer, bytes));
    int plain = 0;
    together(
        [&] {
            plain = 1;
            for (int i = 0; i < 100; ++i) OK(MPI_Bsend(&i, 1, MPI_INT, rank, 9, comm));
        },
        [&] {
            int data = -1;
            for (int i = 0; i < 100; ++i)
                OK(MPI_Recv(&data, 1, MPI_INT, rank, 9, comm, MPI_STATUS_IGNORE));
            CHECK(plain == 1 && data == 99);
            void* detached = nullptr;
            int size = 0;
            OK(MPI_Buffer_detach(&detached, &size));
            memset(detached, 0, static_cast<std::size_t>(size));
            std::free(detached);
        });
}

void add(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

/// Steps of a collective, the program's operation among them, run in any thread that makes
/// progress.
void collectives(MPI_Comm comm, MPI_Comm other) {
    MPI_Op sum;
    OK(MPI_Op_create(add, 1, &sum));
    const auto reduce = [&](MPI_Comm on) {
        for (const int count : {1, 1000, 40000})
            for (int i = 0; i < 5; ++i) {
                std::vector<int> mine(static_cast<std::size_t>(count), 1),
                    all(static_cast<std::size_t>(count));
                MPI_Request request;
                OK(MPI_Iallreduce(mine.data(), all.data(), count, MPI_INT, sum, on, &request));
                OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
                CHECK(all.back() == ranks);
                mine.assign(mine.size(), 2);
                OK(MPI_Allreduce(mine.data(), all.data(), count, MPI_INT, sum, on));
                CHECK(all.front() == 2 * ranks);
                OK(MPI_Bcast(all.data(), count, MPI_INT, 0, on));
                OK(MPI_Barrier(on));
            }
    };
    together([&] { reduce(comm); }, [&] { reduce(other); });
    OK(MPI_Op_free(&sum));
}

void persistent_and_partitioned(MPI_Comm comm) {
    MPI_Request send, receive;
    std::vector<int> out(8), in(8);
    OK(MPI_Psend_init(out.data(), 8, 1, MPI_INT, rank, 10, comm, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(in.data(), 8, 1, MPI_INT, rank, 10, comm, MPI_INFO_NULL, &receive));
    for (int round = 0; round < 10; ++round) {
        OK(MPI_Start(&send));
        OK(MPI_Start(&receive));
        const auto fill = [&](int from) {
            for (int i = from; i < 8; i += 2) {
                out[static_cast<std::size_t>(i)] = round + i;
                OK(MPI_Pready(i, send));
            }
        };
        std::thread one(fill, 0), two(fill, 1), reader([&] {
            int flag = 0;
            while (!flag) OK(MPI_Parrived(receive, 5, &flag));
            CHECK(in[5] == round + 5);
        });
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        for (int& value : out) value = -1;
        reader.join();
        OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        for (int i = 0; i < 8; ++i) CHECK(in[static_cast<std::size_t>(i)] == round + i);
        one.join();
        two.join();
    }
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));

    int data = 0, got = 0, plain = 0;
    OK(MPI_Send_init(&data, 1, MPI_INT, rank, 11, comm, &send));
    OK(MPI_Recv_init(&got, 1, MPI_INT, rank, 11, comm, &receive));
    together(
        [&] {
            data = plain = 1;
            OK(MPI_Start(&send));
            OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
            data = 2;
        },
        [&] {
            OK(MPI_Start(&receive));
            OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
            CHECK(got == 1 && plain == 1);
            got = 0;
        });
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
}

int query(void* state, MPI_Status*) {
    return *static_cast<int*>(state) == 1 ? MPI_SUCCESS : MPI_ERR_OTHER;
}
int free_state(void* state) {
    *static_cast<int*>(state) = 2;
    return MPI_SUCCESS;
}
int cancel(void*, int) { return MPI_SUCCESS; }

void generalized() {
    int state = 0;
    MPI_Request request;
    OK(MPI_Grequest_start(query, free_state, cancel, &state, &request));
    MPI_Request named = request;
    together(
        [&] {
            state = 1;
            OK(MPI_Grequest_complete(named));
        },
        [&] {
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK(state == 2);
        });
}

std::mutex of_callbacks;
int calls = 0;  // guarded by of_callbacks

int copy(MPI_Comm comm, int, void*, void* value, void* copied, int* flag) {
    std::lock_guard guard(of_callbacks);
    int size = 0;
    OK(MPI_Comm_size(comm, &size));
    calls += size;
    *static_cast<void**>(copied) = value;
    *flag = 1;
    return MPI_SUCCESS;
}
int remove(MPI_Comm, int, void*, void*) {
    std::lock_guard guard(of_callbacks);
    ++calls;
    return MPI_SUCCESS;
}
void note_error(MPI_Comm*, int*, ...) {
    std::lock_guard guard(of_callbacks);
    ++calls;
}

void callbacks(MPI_Comm comm, MPI_Comm other) {
    int key;
    MPI_Errhandler handler;
    OK(MPI_Comm_create_keyval(copy, remove, &key, nullptr));
    OK(MPI_Comm_create_errhandler(note_error, &handler));
    const auto work = [&](MPI_Comm on) {
        for (int i = 0; i < 5; ++i) {
            MPI_Comm duplicate;
            MPI_Datatype type;
            MPI_Info info;
            OK(MPI_Comm_set_attr(on, key, nullptr));
            OK(MPI_Comm_dup(on, &duplicate));
            OK(MPI_Comm_set_errhandler(duplicate, handler));
            CHECK(MPI_Send(nullptr, -1, MPI_INT, 0, 0, duplicate) != MPI_SUCCESS);
            OK(MPI_Comm_free(&duplicate));
            OK(MPI_Type_vector(3, 1, 2, MPI_INT, &type));
            OK(MPI_Type_commit(&type));
            OK(MPI_Type_free(&type));
            OK(MPI_Info_create(&info));
            OK(MPI_Info_set(info, "key", "value"));
            OK(MPI_Info_free(&info));
        }
        OK(MPI_Comm_delete_attr(on, key));
    };
    together([&] { work(comm); }, [&] { work(other); });
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Errhandler_free(&handler));
    CHECK(calls > 0);
}

}  // namespace

int main() {
    start(&rank, &ranks, MPI_THREAD_MULTIPLE);
    MPI_Comm one, two;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &one));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &two));
    send_and_receive(one);
    OK(MPI_Barrier(one));  // the round trip receives from any source
    synchronous_send(one);
    if (ranks > 1) round_trip(one, two);
    progress_for_others(one, two);
    hand_over(one);
    buffered(one);
    collectives(one, two);
    persistent_and_partitioned(one);
    generalized();
    callbacks(one, two);
    OK(MPI_Comm_free(&one));
    OK(MPI_Comm_free(&two));
    return MPI_Finalize();
}

// SPDX-License-Identifier: BSD-3-Clause
/// Two threads complete copies of one handle, which is wrong. One of them has the operation, the
/// other one gets MPI_ERR_REQUEST, and the library goes on. Requests are complete or waited for, in
/// every call.

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

[[noreturn]] void give_up(const char* what, int round) {
    std::fprintf(stderr, "round %d: %s\n", round, what);
    std::_Exit(1);
}

/// A gate that lets two threads leave at once.
class Gate {
public:
    void pass() {
        const int mine = passed_.fetch_add(1) / 2;
        while (passed_.load() / 2 == mine && passed_.load() % 2 != 0) {}
    }

private:
    std::atomic<int> passed_{0};
};

int class_of(int code) {
    int answer = MPI_SUCCESS;
    MPI_Error_class(code, &answer);
    return answer;
}

/// Makes the call of this round, on a copy of the handle. Returns MPI_SUCCESS if it completed the
/// operation.
int complete(int round, MPI_Request copy) {
    int flag = 0, index = 0, count = 0;
    MPI_Status status;
    switch (round % 6) {
        case 0: return MPI_Wait(&copy, &status);
        case 1:
            return MPI_Waitall(1, &copy, MPI_STATUSES_IGNORE) == MPI_SUCCESS ? MPI_SUCCESS
                                                                             : MPI_ERR_REQUEST;
        case 2: return MPI_Waitany(1, &copy, &index, &status);
        case 3:
            while (flag == 0)
                if (const int error = MPI_Test(&copy, &flag, &status)) return error;
            return MPI_SUCCESS;
        case 4:
            return MPI_Waitsome(1, &copy, &count, &index, MPI_STATUSES_IGNORE) == MPI_SUCCESS
                ? MPI_SUCCESS
                : MPI_ERR_REQUEST;
        default: return MPI_Request_free(&copy);
    }
}

/// Checks that the library still works: it has more requests than a thread's pool hands out at
/// once, each with its own data.
void go_on(int round) {
    constexpr int many = 200;
    std::array<int, many> out, in;
    std::array<MPI_Request, 2 * many> requests;
    for (int i = 0; i < many; ++i) {
        out[static_cast<std::size_t>(i)] = round * many + i;
        MPI_Irecv(&in[static_cast<std::size_t>(i)], 1, MPI_INT, 0, i, MPI_COMM_SELF,
                  &requests[static_cast<std::size_t>(i)]);
    }
    for (int i = 0; i < many; ++i)
        MPI_Isend(&out[static_cast<std::size_t>(i)], 1, MPI_INT, 0, i, MPI_COMM_SELF,
                  &requests[static_cast<std::size_t>(many + i)]);
    if (MPI_Waitall(2 * many, requests.data(), MPI_STATUSES_IGNORE) != MPI_SUCCESS)
        give_up("a request was lost", round);
    if (in != out) give_up("wrong data", round);
}

}  // namespace

int main() {
    constexpr int rounds = 1200, tag = 500;
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Request request = MPI_REQUEST_NULL;
    int value = 0;
    Gate gate;
    std::array<std::atomic<int>, 2> answers{};
    const auto take_part = [&](std::size_t me) {
        for (int round = 0; round < rounds; ++round) {
            // Half of the rounds begin when the operation is complete, half when it is not.
            const bool early = round / 6 % 2 == 0 && round % 6 != 5;
            if (me == 0) {
                value = -1;
                MPI_Irecv(&value, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &request);
                if (!early) MPI_Send(&round, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
            }
            gate.pass();
            if (early && me == 1) MPI_Send(&round, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
            answers[me].store(complete(round, request));
            gate.pass();
            if (me == 0) {
                const bool first = answers[0].load() == MPI_SUCCESS,
                           second = answers[1].load() == MPI_SUCCESS;
                if (first == second)
                    give_up(first ? "both threads completed it" : "no thread completed it", round);
                if (class_of(first ? answers[1].load() : answers[0].load()) != MPI_ERR_REQUEST)
                    give_up("the other one got another error", round);
                if (value != round) give_up("wrong data", round);
                go_on(round);
            }
            gate.pass();
        }
    };
    std::thread other(take_part, 1);
    take_part(0);
    other.join();
    MPI_Finalize();
    return 0;
}

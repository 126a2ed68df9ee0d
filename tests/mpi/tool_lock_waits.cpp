// SPDX-License-Identifier: BSD-3-Clause
// The times that threads waited for locks of critical sections: arrays with an element for each
// thread. They add up to the time of all threads.
#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace {

constexpr int others = 4, rounds = 200;
using Values = std::vector<unsigned long long>;

MPI_T_pvar_session session;

class Variable {
public:
    Variable(const char* name, int kind) {
        int index = -1, count = -1;
        OK(MPI_T_pvar_get_index(name, kind, &index));
        OK(MPI_T_pvar_handle_alloc(session, index, nullptr, &handle_, &count));
        CHECK(count >= 1);
        count_ = static_cast<std::size_t>(count);
    }
    explicit Variable(const char* name) : Variable(name, MPI_T_PVAR_CLASS_COUNTER) {}
    std::size_t count() const { return count_; }
    Values read() const {
        Values values(count_ + 1, canary);
        OK(MPI_T_pvar_read(session, handle_, values.data()));
        CHECK(values.back() == canary);  // not more elements than it said
        values.pop_back();
        return values;
    }
    void write(const Values& values) const {
        OK(MPI_T_pvar_write(session, handle_, values.data()));
    }
    void reset() const { OK(MPI_T_pvar_reset(session, handle_)); }

private:
    static constexpr unsigned long long canary = 0x5eed5eed5eed5eed;
    MPI_T_pvar_handle handle_ = MPI_T_PVAR_HANDLE_NULL;
    std::size_t count_ = 0;
};

unsigned long long sum(const Values& values) {
    return std::accumulate(values.begin(), values.end(), 0ULL);
}

/// Sends messages of one thread to itself; each takes a lock several times in every recipe that has
/// locks.
void talk(int rank, int tag) {
    int out = tag, in = -1;
    for (int round = 0; round < rounds; ++round) {
        MPI_Request request;
        OK(MPI_Irecv(&in, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &request));
        OK(MPI_Send(&out, 1, MPI_INT, rank, tag, MPI_COMM_WORLD));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(in == tag);
    }
}

/// Lets all threads send at once, so that each has a number of its own.
void let_threads_talk(int rank) {
    std::barrier all_there(others);
    std::vector<std::thread> threads;
    for (int tag = 0; tag < others; ++tag)
        threads.emplace_back([&, tag] {
            talk(rank, tag);
            all_there.arrive_and_wait();
        });
    for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main() {
    int rank = 0, size = 0, provided = -1;
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_T_pvar_session_create(&session));
    const char* section = std::getenv("HEDDLE_CRITICAL_SECTION");
    const bool locks = section != nullptr && std::string(section) != "lock-free";

    const Variable early("thread_lock_acquisitions");
    CHECK(early.count() == 1);  // the main thread
    let_threads_talk(rank);

    const Variable acquisitions("thread_lock_acquisitions"), contended("thread_lock_contended"),
        waits("thread_lock_wait");
    CHECK(acquisitions.count() == others + 1);
    const Values taken = acquisitions.read(), waited = waits.read();
    CHECK(sum(taken) ==
          Variable("lock_acquisitions_main").read()[0] +
              Variable("lock_acquisitions_progress").read()[0]);
    CHECK(sum(contended.read()) == Variable("lock_contended").read()[0]);
    CHECK(sum(waited) == Variable("lock_wait").read()[0]);
    CHECK(*std::max_element(waited.begin(), waited.end()) ==
          Variable("longest_lock_wait", MPI_T_PVAR_CLASS_HIGHWATERMARK).read()[0]);
    for (std::size_t thread = 1; thread <= others; ++thread)
        CHECK(locks ? taken[thread] >= rounds : taken[thread] == 0);
    CHECK(early.read()[0] == taken[0]);

    acquisitions.reset();
    CHECK(sum(acquisitions.read()) == 0);
    const Values wanted{5, 4, 3, 2, 1};
    acquisitions.write(wanted);
    CHECK(acquisitions.read() == wanted);
    let_threads_talk(rank);  // they have the numbers of those before
    const Values after = acquisitions.read();
    for (std::size_t thread = 1; thread <= others; ++thread)
        CHECK(locks ? after[thread] >= wanted[thread] + rounds : after[thread] == wanted[thread]);

    OK(MPI_T_finalize());
    MPI_Finalize();
    return 0;
}

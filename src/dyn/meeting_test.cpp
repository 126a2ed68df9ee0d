// SPDX-License-Identifier: BSD-3-Clause
#include "dyn/meeting.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "testing/job.hpp"

namespace heddle::dyn {
namespace {

using Name = std::array<char, MPI_MAX_PORT_NAME>;

/// A port name that the processes of one job pass to those of another.
class Told {
public:
    void tell(const Name& name) { promise_.set_value(name); }
    const char* get() { return future_.get().data(); }

private:
    std::promise<Name> promise_;
    std::shared_future<Name> future_ = promise_.get_future();
};

void open_and_tell(Told& told) {
    Name name{};
    MPI_Open_port(MPI_INFO_NULL, name.data());
    told.tell(name);
}

int rank_of(MPI_Comm comm) {
    int rank = -1;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

int remote_size_of(MPI_Comm comm) {
    int size = -1;
    MPI_Comm_remote_size(comm, &size);
    return size;
}

/// Connects two jobs: job 0 accepts and job 1 connects, each with all of its ranks.
MPI_Comm meet(std::size_t job, int rank, Told& told) {
    MPI_Comm inter = MPI_COMM_NULL;
    if (job == 0) {
        if (rank == 0) open_and_tell(told);
        MPI_Comm_accept(rank == 0 ? told.get() : "", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    } else {
        MPI_Comm_connect(told.get(), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    }
    return inter;
}

TEST(Meeting, OfTwoJobsIsAnIntercommunicatorOfBoth) {
    Told told;
    testing::run_jobs({2, 3}, [&](std::size_t job, int rank) {
        MPI_Comm inter = meet(job, rank, told);
        ASSERT_NE(inter, MPI_COMM_NULL);
        EXPECT_EQ(remote_size_of(inter), job == 0 ? 3 : 2);
        EXPECT_EQ(rank_of(inter), rank);
        MPI_Comm_disconnect(&inter);
        EXPECT_EQ(inter, MPI_COMM_NULL);
    });
}

TEST(Meeting, MessagesOfAllLengthsGoBothWays) {
    Told told;
    testing::run_jobs({1, 2}, [&](std::size_t job, int rank) {
        MPI_Comm inter = meet(job, rank, told);
        for (const int count : {0, 1, 100, 20'000, 300'000}) {
            std::vector<int> data(static_cast<std::size_t>(count));
            if (job == 0) {
                for (int to = 0; to < 2; ++to) {
                    std::iota(data.begin(), data.end(), to);
                    MPI_Send(data.data(), count, MPI_INT, to, 7, inter);
                }
                for (int from = 0; from < 2; ++from) {
                    MPI_Recv(data.data(), count, MPI_INT, from, 8, inter, MPI_STATUS_IGNORE);
                    for (int i = 0; i < count; ++i)
                        ASSERT_EQ(data[static_cast<std::size_t>(i)], from + i + 1);
                }
            } else {
                MPI_Status status;
                MPI_Recv(data.data(), count, MPI_INT, 0, MPI_ANY_TAG, inter, &status);
                EXPECT_EQ(status.MPI_TAG, 7);
                for (int& value : data) ++value;
                MPI_Ssend(data.data(), count, MPI_INT, 0, 8, inter);
            }
        }
        MPI_Comm_disconnect(&inter);
    });
}

TEST(Meeting, MergedCommunicatorsHaveCollectivesAndChildren) {
    Told told;
    testing::run_jobs({2, 3}, [&](std::size_t job, int rank) {
        MPI_Comm inter = meet(job, rank, told);
        MPI_Comm all = MPI_COMM_NULL;
        MPI_Intercomm_merge(inter, job == 1, &all);
        int size = 0;
        MPI_Comm_size(all, &size);
        EXPECT_EQ(size, 5);
        EXPECT_EQ(rank_of(all), job == 0 ? rank : rank + 2);
        int sum = 0, mine = rank_of(all);
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all);
        EXPECT_EQ(sum, 10);

        MPI_Comm copy = MPI_COMM_NULL, half = MPI_COMM_NULL, later = MPI_COMM_NULL;
        MPI_Comm_dup(all, &copy);
        MPI_Comm_split(copy, mine % 2, -mine, &half);
        int of_half = 0;
        MPI_Allreduce(&mine, &of_half, 1, MPI_INT, MPI_SUM, half);
        EXPECT_EQ(of_half, mine % 2 == 0 ? 6 : 4);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Comm_idup(half, &later, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(later);
        MPI_Comm node = MPI_COMM_NULL;
        MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
        MPI_Comm_size(node, &size);
        EXPECT_EQ(size, job == 0 ? 2 : 3);
        for (MPI_Comm* comm : {&node, &later, &half, &copy, &all, &inter})
            MPI_Comm_disconnect(comm);
    });
}

TEST(Meeting, WindowsOfMergedCommunicatorsWork) {
    Told told;
    testing::run_jobs({1, 2}, [&](std::size_t job, int rank) {
        MPI_Comm inter = meet(job, rank, told);
        MPI_Comm all = MPI_COMM_NULL;
        MPI_Intercomm_merge(inter, job == 1, &all);
        const int me = rank_of(all);
        std::array<int, 3> memory{-1, -1, -1};
        MPI_Win window = MPI_WIN_NULL;
        MPI_Win_create(memory.data(), sizeof memory, sizeof(int), MPI_INFO_NULL, all, &window);
        MPI_Win_fence(0, window);
        for (int target = 0; target < 3; ++target)
            MPI_Put(&me, 1, MPI_INT, target, me, 1, MPI_INT, window);
        MPI_Win_fence(0, window);
        EXPECT_EQ(memory, (std::array{0, 1, 2}));
        MPI_Win_free(&window);
        MPI_Comm_disconnect(&all);
        MPI_Comm_disconnect(&inter);
    });
}

TEST(Meeting, ThirdJobsMeetThroughACommunicatorOfTwo) {
    Told first, second;
    testing::run_jobs({1, 1, 1}, [&](std::size_t job, int rank) {
        MPI_Comm inter = MPI_COMM_NULL, all = MPI_COMM_NULL, other = MPI_COMM_NULL;
        if (job < 2) {
            inter = meet(job, rank, first);
            MPI_Intercomm_merge(inter, job == 1, &all);
            if (job == 0) open_and_tell(second);
            MPI_Comm_accept(job == 0 ? second.get() : "", MPI_INFO_NULL, 0, all, &other);
        } else {
            MPI_Comm_connect(second.get(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        }
        EXPECT_EQ(remote_size_of(other), job < 2 ? 1 : 2);
        int value = static_cast<int>(job), sum = -1;
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, other);
        EXPECT_EQ(sum, job < 2 ? 2 : 1);
        MPI_Comm_disconnect(&other);
        if (job < 2) {
            MPI_Comm_disconnect(&all);
            MPI_Comm_disconnect(&inter);
        }
    });
}

TEST(Meeting, ClosedPortsRefuse) {
    Told told;
    std::promise<void> closed;
    auto is_closed = closed.get_future().share();
    testing::run_jobs({1, 1}, [&](std::size_t job, int) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        MPI_Comm inter = MPI_COMM_NULL;
        if (job == 0) {
            Name name{};
            EXPECT_EQ(MPI_Open_port(MPI_INFO_NULL, name.data()), MPI_SUCCESS);
            EXPECT_EQ(MPI_Close_port(name.data()), MPI_SUCCESS);
            EXPECT_EQ(MPI_Close_port(name.data()), MPI_ERR_PORT);
            EXPECT_EQ(MPI_Comm_accept(name.data(), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter),
                      MPI_ERR_PORT);
            told.tell(name);
            is_closed.wait();
        } else {
            EXPECT_EQ(MPI_Comm_connect(told.get(), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter),
                      MPI_ERR_PORT);
            EXPECT_EQ(MPI_Comm_connect("nonsense", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter),
                      MPI_ERR_PORT);
            EXPECT_EQ(inter, MPI_COMM_NULL);
            closed.set_value();
        }
    });
}

TEST(Meeting, ServersServeManyClientsInTurn) {
    constexpr int clients = 6;
    Told told;
    testing::run_jobs(std::vector<int>(clients + 1, 1), [&](std::size_t job, int) {
        if (job != 0) {
            MPI_Comm server = MPI_COMM_NULL;
            MPI_Comm_connect(told.get(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &server);
            int value = static_cast<int>(job);
            MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, 0, 0, 0, server, MPI_STATUS_IGNORE);
            EXPECT_EQ(value, 2 * static_cast<int>(job));
            MPI_Comm_disconnect(&server);
            return;
        }
        open_and_tell(told);
        for (int i = 0; i < clients; ++i) {
            MPI_Comm client = MPI_COMM_NULL;
            MPI_Comm_accept(told.get(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &client);
            int value = 0;
            MPI_Recv(&value, 1, MPI_INT, 0, 0, client, MPI_STATUS_IGNORE);
            value *= 2;
            MPI_Send(&value, 1, MPI_INT, 0, 0, client);
            MPI_Comm_disconnect(&client);
        }
        MPI_Close_port(told.get());
    });
}

TEST(Meeting, ThreadsAcceptAtOnePort) {
    constexpr int threads = 3, each = 2;
    Told told;
    std::vector<int> served(threads);
    testing::run_jobs(
        std::vector<int>(threads * each + 1, 1), threads, [&](std::size_t job, int, int thread) {
            if (job != 0) {
                if (thread != 0) return;
                MPI_Comm server = MPI_COMM_NULL;
                MPI_Comm_connect(told.get(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &server);
                int value = static_cast<int>(job);
                MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, 0, 0, 0, server, MPI_STATUS_IGNORE);
                EXPECT_EQ(value, 2 * static_cast<int>(job));
                MPI_Comm_disconnect(&server);
                return;
            }
            if (thread == 0) open_and_tell(told);
            MPI_Comm own = testing::other_world(static_cast<std::uint32_t>(thread) + 1);
            for (int i = 0; i < each; ++i) {
                MPI_Comm client = MPI_COMM_NULL;
                MPI_Comm_accept(told.get(), MPI_INFO_NULL, 0, own, &client);
                int value = 0;
                MPI_Recv(&value, 1, MPI_INT, 0, 0, client, MPI_STATUS_IGNORE);
                value *= 2;
                MPI_Send(&value, 1, MPI_INT, 0, 0, client);
                MPI_Comm_disconnect(&client);
                ++served[static_cast<std::size_t>(thread)];
            }
        });
    EXPECT_EQ(served, std::vector<int>(threads, each));
}

/// No process connects: all waiting threads learn that the port is closed.
TEST(Meeting, ThreadsThatAcceptAllHearThatAPortIsClosed) {
    constexpr int threads = 4;
    Told told;
    std::atomic<int> waiting{0}, refused{0};
    testing::run_jobs({1}, threads, [&](std::size_t, int, int thread) {
        if (thread == 0) {
            open_and_tell(told);
            while (waiting != threads - 1) std::this_thread::yield();
            MPI_Close_port(told.get());
            return;
        }
        MPI_Comm own = testing::other_world(static_cast<std::uint32_t>(thread)), none;
        MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
        const char* name = told.get();
        ++waiting;
        int error = MPI_Comm_accept(name, MPI_INFO_NULL, 0, own, &none);
        MPI_Error_class(error, &error);
        refused += error == MPI_ERR_PORT;
    });
    EXPECT_EQ(refused, threads - 1);
}

TEST(Meeting, GuestsThatHaveEndedAreForgottenWhenNothingNamesThem) {
    constexpr int clients = 5;
    std::array<std::unique_ptr<Told>, clients> told;
    for (auto& port : told) port = std::make_unique<Told>();
    testing::run_jobs(std::vector<int>(clients + 1, 1), [&](std::size_t job, int) {
        MPI_Comm comm = MPI_COMM_NULL;
        if (job != 0) {
            // Its port is opened only after the job before has ended.
            MPI_Comm_connect(told[job - 1]->get(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm);
            MPI_Comm_disconnect(&comm);
            return;
        }
        objects::Process& process = *objects::attached_thread()->process;
        MPI_Group kept = MPI_GROUP_NULL;
        for (std::size_t i = 0; i < clients; ++i) {
            open_and_tell(*told[i]);
            MPI_Comm_accept(told[i]->get(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm);
            if (i == 0) MPI_Comm_remote_group(comm, &kept);
            MPI_Comm_disconnect(&comm);
            MPI_Close_port(told[i]->get());
            while (process.need_guests().count() > 1) {  // `kept` names one guest
                process.forget_guests();
                process.engine->polling().poll_all(*objects::attached_thread());
            }
        }
        MPI_Group_free(&kept);
    });
}

TEST(Meeting, OfRanksOfOneJobWorksToo) {
    Told told;
    testing::run_jobs({2}, [&](std::size_t, int rank) {
        MPI_Comm inter = MPI_COMM_NULL;
        if (rank == 0) {
            open_and_tell(told);
            MPI_Comm_accept(told.get(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        } else {
            MPI_Comm_connect(told.get(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        }
        int value = rank, other = -1;
        MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &other, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
        EXPECT_EQ(other, 1 - rank);
        MPI_Comm_disconnect(&inter);
    });
}

TEST(Meeting, SocketsJoinTwoProcesses) {
    std::array<int, 2> ends{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    testing::run_jobs({1, 1}, [&](std::size_t job, int) {
        MPI_Comm inter = MPI_COMM_NULL;
        MPI_Comm_join(ends[job], &inter);
        int value = static_cast<int>(job), other = -1;
        MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &other, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
        EXPECT_EQ(other, 1 - value);
        MPI_Comm_disconnect(&inter);
    });
    for (const int end : ends) close(end);
}

TEST(PortName, WrittenIsReadAndGarbageIsNot) {
    const Port port{{{123, 4}, {5, 6}, "somewhere"}, 77};
    const auto read = read_port(to_text(port));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->owner, port.owner);
    EXPECT_EQ(read->key, port.key);
    for (const std::string& text :
         {std::string(), std::string("heddle:2:"), std::string("heddle:2:00:1"),
          to_text(port) + "x", to_text(port).substr(1), std::string("heddle:2:zz:1"),
          std::string("heddle:2:zz:1:0")})
        EXPECT_FALSE(read_port(text)) << text;
}

TEST(PortName, EachCharacterCounts) {
    const std::string name = to_text({{{123, 4}, {5, 6}, "somewhere"}, 77});
    for (std::size_t at = 0; at < name.size(); ++at) {
        std::string other = name;
        other[at] = other[at] == '1' ? '2' : '1';
        EXPECT_FALSE(read_port(other)) << other;
        EXPECT_FALSE(read_port(name.substr(0, at) + name.substr(at + 1))) << at;
    }
}

}  // namespace
}  // namespace heddle::dyn

// SPDX-License-Identifier: BSD-3-Clause
/// Sends that are cancelled (MPI 5.0, 3.8.4). The wait for such a send returns whatever its
/// receiver does. A message is received in full or cancelled, never both, never neither.
///
/// Ranks make pairs of a sender and a receiver; the last of an odd number is both, by two threads.
/// The two tell each other their steps through memory that they share. So no call of MPI makes
/// progress unseen.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <random>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "check.h"
#include "counter.h"

namespace {

constexpr int large = 25'000;    ///< integers; above any eager limit
constexpr int huge = 2'000'000;  ///< more than the library stores for a receiver
constexpr int last = -1;         ///< first integer of a message that ends a row of them

int rounds = 40'000;

/// The steps that the two of a pair have reached. Zeroes at first.
struct Pair {
    std::atomic<int> said_by_sender;
    std::atomic<int> said_by_receiver;
};

struct Role {
    Pair& pair;
    int peer;  ///< rank of the other
    bool sends;
    bool alone;  ///< the two are threads of one process

    void say(int step) const { (sends ? pair.said_by_sender : pair.said_by_receiver).store(step); }
    bool has_come(int step) const {
        return (sends ? pair.said_by_receiver : pair.said_by_sender).load() >= step;
    }
    void await(int step) const {
        while (!has_come(step)) sched_yield();
    }
};

bool wait_cancelled(MPI_Request& request) {
    MPI_Status status;
    memset(&status, 0x55, sizeof status);
    int flag = -1;
    OK(MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL);
    OK(MPI_Test_cancelled(&status, &flag));
    return flag != 0;
}

std::vector<int> message(int length, int value) {
    return std::vector<int>(static_cast<std::size_t>(length), value);
}

/// Returns whether all values of a message are equal, as they are in each message sent.
bool is_whole(const std::vector<int>& data, int count) {
    for (int i = 1; i < count; ++i)
        if (data[static_cast<std::size_t>(i)] != data[0]) return false;
    return true;
}

int receive(int from, int tag) {
    std::vector<int> data = message(large, -7);
    MPI_Status status;
    int count = 0;
    OK(MPI_Recv(data.data(), large, MPI_INT, from, tag, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(is_whole(data, count));
    return data[0];
}

void send(const Role& role, int value, int tag, int length = 1) {
    const std::vector<int> data = message(length, value);
    OK(MPI_Send(data.data(), length, MPI_INT, role.peer, tag, MPI_COMM_WORLD));
}

using Start = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

// --- the receiver is not in MPI ---

/// A message sent after a cancelled one is received as if the cancelled one had not been.
void while_the_receiver_computes(const Role& role, Start start, int length) {
    if (!role.sends) {
        role.await(1);
        CHECK(receive(role.peer, 5) == 2);
        role.say(1);
        return;
    }
    const std::vector<int> data = message(length, 1);
    MPI_Request request;
    OK(start(data.data(), length, MPI_INT, role.peer, 5, MPI_COMM_WORLD, &request));
    OK(MPI_Cancel(&request));
    CHECK(wait_cancelled(request));
    role.say(1);
    send(role, 2, 5);
    role.await(1);
}

/// There are more messages than a ring holds. Those that wait for room are taken back, too, in any
/// order.
void many(const Role& role) {
    constexpr int count = 3000;
    if (!role.sends) {
        role.await(10);
        CHECK(receive(role.peer, 6) == 2);
        role.say(10);
        return;
    }
    const std::vector<int> data = message(large, 1);
    std::vector<MPI_Request> requests(count);
    for (MPI_Request& request : requests)
        OK(MPI_Issend(data.data(), large, MPI_INT, role.peer, 6, MPI_COMM_WORLD, &request));
    for (int i = 0; i < count; ++i)
        OK(MPI_Cancel(&requests[static_cast<std::size_t>(i * 7 % count)]));
    std::vector<MPI_Status> statuses(count);
    OK(MPI_Waitall(count, requests.data(), statuses.data()));
    for (const MPI_Status& status : statuses) {
        int flag = 0;
        OK(MPI_Test_cancelled(&status, &flag));
        CHECK(flag);
    }
    role.say(10);
    send(role, 2, 6);
    role.await(10);
}

/// Small messages are complete if a ring has room for them; the others wait for it. Their order
/// stays.
void small_ones(const Role& role) {
    constexpr int count = 3000;
    if (!role.sends) {
        role.await(20);
        std::vector<int> expected(count);
        OK(MPI_Recv(expected.data(), count, MPI_INT, role.peer, 8, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
        for (int i = 0; i < count; ++i)
            if (expected[static_cast<std::size_t>(i)] != 0) CHECK(receive(role.peer, 7) == i);
        CHECK(receive(role.peer, 7) == last);
        role.say(20);
        return;
    }
    std::vector<MPI_Request> requests(count);
    std::vector<int> values(count), received(count, 1);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = static_cast<int>(i);
        OK(MPI_Isend(&values[i], 1, MPI_INT, role.peer, 7, MPI_COMM_WORLD, &requests[i]));
    }
    int cancelled = 0;
    for (std::size_t i = 0; i < count; i += 2) {
        OK(MPI_Cancel(&requests[i]));
        if (!wait_cancelled(requests[i])) continue;
        received[i] = 0;
        ++cancelled;
    }
    // A rank always has room in its own ring, and in all rings together.
    CHECK((cancelled > 0) == !role.alone || std::getenv("HEDDLE_ASSIGNMENT") != nullptr);
    role.say(20);
    OK(MPI_Send(received.data(), count, MPI_INT, role.peer, 8, MPI_COMM_WORLD));
    OK(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
    send(role, last, 7);
    role.await(20);
}

// --- the receiver has seen the message ---

/// The receiver keeps the message as unexpected, and a probe has found it. It is still the
/// sender's.
void probed(const Role& role, Start start, int length) {
    if (role.sends) {
        const std::vector<int> data = message(length, 1);
        MPI_Request request;
        OK(start(data.data(), length, MPI_INT, role.peer, 9, MPI_COMM_WORLD, &request));
        role.await(30);
        OK(MPI_Cancel(&request));
        CHECK(wait_cancelled(request));
        role.say(31);
        role.await(32);
        send(role, 2, 9);
        role.await(33);
        return;
    }
    MPI_Status status;
    OK(MPI_Probe(role.peer, 9, MPI_COMM_WORLD, &status));
    role.say(30);
    role.await(31);
    int found = 1, value = 0;
    OK(MPI_Iprobe(role.peer, 9, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
    CHECK(!found);
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
    CHECK(!found);
    OK(MPI_Iprobe(role.peer, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
    CHECK(!found);
    MPI_Message none;
    OK(MPI_Improbe(role.peer, 9, MPI_COMM_WORLD, &found, &none, MPI_STATUS_IGNORE));
    CHECK(!found);
    MPI_Request request;
    OK(MPI_Irecv(&value, 1, MPI_INT, role.peer, 9, MPI_COMM_WORLD, &request));
    role.say(32);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(value == 2);
    role.say(33);
}

/// A receive, whatever it asks for, finds the kept message that was taken back. It waits for the
/// next.
void posted_afterwards(const Role& role, int source, int tag) {
    if (role.sends) {
        const std::vector<int> data = message(large, 1);
        MPI_Request requests[3];
        for (MPI_Request& request : requests)
            OK(MPI_Issend(data.data(), large, MPI_INT, role.peer, 9, MPI_COMM_WORLD, &request));
        role.await(40);
        OK(MPI_Cancel(&requests[0]));
        OK(MPI_Cancel(&requests[1]));
        CHECK(wait_cancelled(requests[0]));
        CHECK(wait_cancelled(requests[1]));
        role.say(41);
        OK(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
        role.await(42);
        return;
    }
    OK(MPI_Probe(role.peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    role.say(40);
    role.await(41);
    CHECK(receive(source, tag) == 1);
    role.say(42);
}

/// A message that MPI_Mprobe has taken is matched.
void taken_by_a_probe(const Role& role, Start start, int length) {
    if (role.sends) {
        const std::vector<int> data = message(length, 3);
        MPI_Request request;
        OK(start(data.data(), length, MPI_INT, role.peer, 10, MPI_COMM_WORLD, &request));
        role.await(50);
        OK(MPI_Cancel(&request));
        role.say(51);
        CHECK(!wait_cancelled(request));
        role.await(52);
        return;
    }
    MPI_Message taken;
    OK(MPI_Mprobe(role.peer, 10, MPI_COMM_WORLD, &taken, MPI_STATUS_IGNORE));
    role.say(50);
    role.await(51);
    std::vector<int> data = message(length, -7);
    OK(MPI_Mrecv(data.data(), length, MPI_INT, &taken, MPI_STATUS_IGNORE));
    CHECK(data[0] == 3 && is_whole(data, length));
    role.say(52);
}

/// A receive that was posted before has matched the message.
void matched(const Role& role, Start start, int length) {
    if (!role.sends) {
        std::vector<int> data = message(large, -7);
        MPI_Request request;
        OK(MPI_Irecv(data.data(), large, MPI_INT, role.peer, 11, MPI_COMM_WORLD, &request));
        role.say(60);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(data[0] == 4 && is_whole(data, length));
        role.say(61);
        return;
    }
    const std::vector<int> data = message(length, 4);
    MPI_Request request;
    role.await(60);
    OK(start(data.data(), length, MPI_INT, role.peer, 11, MPI_COMM_WORLD, &request));
    // The payload may need the sender.
    for (int done = 0; !role.has_come(61);)
        OK(MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE));
    OK(MPI_Cancel(&request));
    CHECK(!wait_cancelled(request));
}

// --- kinds of requests ---

void persistent(const Role& role) {
    if (!role.sends) {
        for (int i = 1; i <= 4; ++i) {
            role.await(10 * i);
            CHECK(receive(role.peer, 12) == i);
        }
        role.say(1);
        return;
    }
    std::vector<int> data = message(large, 0);
    for (int i = 1; i <= 4; ++i) {
        const int length = i % 2 == 0 ? large : 1;
        MPI_Request request;
        OK(MPI_Ssend_init(data.data(), length, MPI_INT, role.peer, 12, MPI_COMM_WORLD, &request));
        for (int again = 0; again < 3; ++again) {
            MPI_Status status;
            int flag = 0;
            OK(MPI_Start(&request));
            OK(MPI_Cancel(&request));
            CHECK(request != MPI_REQUEST_NULL);
            OK(MPI_Wait(&request, &status));
            CHECK(request != MPI_REQUEST_NULL);
            OK(MPI_Test_cancelled(&status, &flag));
            CHECK(flag);
        }
        for (int& value : data) value = i;
        role.say(10 * i);
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Request_free(&request));
    }
    role.await(1);
}

/// Buffered messages are the library's, and are sent. A send to MPI_PROC_NULL is complete.
void buffered(const Role& role) {
    if (!role.sends) {
        role.await(70);
        CHECK(receive(role.peer, 13) == 5);
        role.say(70);
        return;
    }
    const std::vector<int> data = message(large, 5);
    std::vector<char> buffer(large * sizeof(int) + MPI_BSEND_OVERHEAD);
    OK(MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size())));
    MPI_Request request;
    OK(MPI_Ibsend(data.data(), large, MPI_INT, role.peer, 13, MPI_COMM_WORLD, &request));
    OK(MPI_Cancel(&request));
    CHECK(!wait_cancelled(request));
    role.say(70);
    void* detached = nullptr;
    int size = 0;
    OK(MPI_Buffer_detach(&detached, &size));
    OK(MPI_Isend(data.data(), large, MPI_INT, MPI_PROC_NULL, 13, MPI_COMM_WORLD, &request));
    OK(MPI_Cancel(&request));
    CHECK(!wait_cancelled(request));
    role.await(70);
}

/// Requests are freed after MPI_Cancel, cancelled or not. They are cancelled twice, and by another
/// thread than started them.
void freed_and_by_others(const Role& role) {
    if (!role.sends) {
        role.await(80);
        CHECK(receive(role.peer, 14) == 6);
        CHECK(receive(role.peer, 14) == 7);
        role.say(80);
        return;
    }
    const std::vector<int> data = message(large, 1), good = message(large, 6);
    for (int i = 0; i < 100; ++i) {
        MPI_Request request;
        OK(MPI_Issend(data.data(), large, MPI_INT, role.peer, 14, MPI_COMM_WORLD, &request));
        OK(MPI_Cancel(&request));
        OK(MPI_Cancel(&request));
        OK(MPI_Request_free(&request));
        CHECK(request == MPI_REQUEST_NULL);
        OK(MPI_Issend(data.data(), 1, MPI_INT, role.peer, 14, MPI_COMM_WORLD, &request));
        std::thread([&] { OK(MPI_Cancel(&request)); }).join();
        CHECK(wait_cancelled(request));
        // One thread waits, asleep or about to be, while another one cancels.
        OK(MPI_Issend(data.data(), large, MPI_INT, role.peer, 14, MPI_COMM_WORLD, &request));
        MPI_Request copy = request;
        std::thread waiter([&] { CHECK(wait_cancelled(request)); });
        if (i % 10 == 0) usleep(2000);
        OK(MPI_Cancel(&copy));
        waiter.join();
    }
    MPI_Request request;
    OK(MPI_Isend(good.data(), large, MPI_INT, role.peer, 14, MPI_COMM_WORLD, &request));
    role.say(80);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    send(role, 7, 14);
    role.await(80);
}

void not_to_be_cancelled(const Role& role) {
    std::vector<int> data = message(16, 8);
    MPI_Request request;
    if (role.sends)
        OK(MPI_Psend_init(data.data(), 2, 8, MPI_INT, role.peer, 15, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &request));
    else
        OK(MPI_Precv_init(data.data(), 2, 8, MPI_INT, role.peer, 15, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &request));
    OK(MPI_Start(&request));
    FAILS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    if (role.sends) OK(MPI_Pready_range(0, 1, request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&request));
}

// --- many, over time ---

std::size_t resident_kilobytes() {
    std::size_t pages = 0, resident = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    CHECK(file != nullptr && std::fscanf(file, "%zu %zu", &pages, &resident) == 2);
    std::fclose(file);
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

/// Messages that the receiver keeps and the sender then takes back do not accumulate at the
/// receiver.
void in_bounded_memory(const Role& role) {
    constexpr int each = 100, times = 600;
    const std::vector<int> data = message(large, 1);
    std::size_t before = 0;
    for (int round = 0; round < times; ++round) {
        if (role.sends) {
            MPI_Request requests[each];
            for (MPI_Request& request : requests)
                OK(MPI_Issend(data.data(), large, MPI_INT, role.peer, 16, MPI_COMM_WORLD,
                              &request));
            role.say(1000 + 2 * round);
            role.await(1000 + 2 * round);
            for (MPI_Request& request : requests) OK(MPI_Cancel(&request));
            for (MPI_Request& request : requests) CHECK(wait_cancelled(request));
            role.say(1001 + 2 * round);
        } else {
            role.await(1000 + 2 * round);
            // A probe takes up to a batch out of one ring.
            OK(MPI_Probe(role.peer, 16, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            int found = 0;
            for (int i = 0; i < 3; ++i)
                OK(MPI_Iprobe(role.peer, 16, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
            CHECK(found);
            if (round == times / 10) before = resident_kilobytes();
            role.say(1000 + 2 * round);
            role.await(1001 + 2 * round);
        }
    }
    if (!role.sends) {
        const std::size_t now = resident_kilobytes();
        if (now > before + 4096) std::fprintf(stderr, "%zu KB have become %zu KB\n", before, now);
        CHECK(now <= before + 4096);
    }
}

/// Far more messages than a ring holds have left it without a match. Most are taken back, the
/// others received.
void thousands(const Role& role, int count) {
    constexpr int each = 7;  // one message of so many is received
    const auto length_of = [](int i) { return i % 5 == 0 ? large : 1; };
    if (!role.sends) {
        while (!role.has_come(90)) {
            int found = 0;
            OK(MPI_Iprobe(role.peer, 20, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
        }
        for (int i = 0; i < count; i += each)
            CHECK(receive(role.peer, 20) == (length_of(i) == 1 ? i : -3));
        CHECK(receive(role.peer, 20) == last);
        role.say(90);
        return;
    }
    const std::vector<int> data = message(large, -3);
    std::vector<int> values(static_cast<std::size_t>(count));
    std::vector<MPI_Request> requests(values.size());
    for (int i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        values[at] = i;
        OK(MPI_Issend(length_of(i) == 1 ? &values[at] : data.data(), length_of(i), MPI_INT,
                      role.peer, 20, MPI_COMM_WORLD, &requests[at]));
    }
    for (int done = 0; level("backlog") != 0;)
        OK(MPI_Request_get_status(requests[0], &done, MPI_STATUS_IGNORE));
    for (int i = 0; i < count; ++i) {
        const int chosen = static_cast<int>(i * 7919LL % count);
        if (chosen % each == 0) continue;
        MPI_Request& request = requests[static_cast<std::size_t>(chosen)];
        OK(MPI_Cancel(&request));
        CHECK(wait_cancelled(request));
    }
    role.say(90);
    OK(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
    send(role, last, 20);
    role.await(90);
}

/// The messages lie in the ring now: the receiver polls now and then.
void never_received(const Role& role) {
    const int times = rounds / 5;
    const std::vector<int> data = message(large, 1);
    if (!role.sends) {
        int found = 0;
        while (role.pair.said_by_sender.load() < 100'000) {
            OK(MPI_Iprobe(role.peer, 17, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
            usleep(100);
        }
        OK(MPI_Iprobe(role.peer, 17, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
        CHECK(!found);
        role.say(100'000);
        return;
    }
    for (int i = 0; i < times; ++i) {
        MPI_Request request;
        OK(MPI_Issend(data.data(), large, MPI_INT, role.peer, 17, MPI_COMM_WORLD, &request));
        OK(MPI_Cancel(&request));
        CHECK(wait_cancelled(request));
    }
    role.say(100'000);
    role.await(100'000);
}

// --- races ---

/// Methods of receiving that race with the sender.
enum class Way { posted, any_source, any_tag, any_tag_wildcards, mprobe, iprobe, ways };

int receive_by(Way way, int peer, int tag, std::vector<int>& data, MPI_Comm comm) {
    MPI_Status status;
    int count = 0;
    switch (way) {
        case Way::mprobe: {
            MPI_Message taken;
            OK(MPI_Mprobe(peer, tag, comm, &taken, MPI_STATUS_IGNORE));
            OK(MPI_Mrecv(data.data(), large, MPI_INT, &taken, &status));
            break;
        }
        case Way::iprobe: {
            int found = 0;
            while (!found) OK(MPI_Iprobe(peer, tag, comm, &found, MPI_STATUS_IGNORE));
            OK(MPI_Recv(data.data(), large, MPI_INT, peer, tag, comm, &status));
            break;
        }
        default: {
            const bool tags = way == Way::any_tag || way == Way::any_tag_wildcards;
            const bool sources = way == Way::any_source || way == Way::any_tag_wildcards;
            OK(MPI_Recv(data.data(), large, MPI_INT, sources ? MPI_ANY_SOURCE : peer,
                        tags ? MPI_ANY_TAG : tag, comm, &status));
        }
    }
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(status.MPI_SOURCE == peer && status.MPI_TAG == tag && is_whole(data, count));
    return data[0];
}

/// The sender cancels at a moment of its choice. At the end both compare the fate of each message.
/// They go on until some messages were received and some were not, however the machine runs the
/// two.
void race(const Role& role, Way way, int tag, MPI_Comm comm) {
    const int count = rounds / static_cast<int>(Way::ways);
    std::vector<char> received;
    if (!role.sends) {
        std::vector<int> data = message(large, -7);
        for (int before = -1;;) {
            const int number = receive_by(way, role.peer, tag, data, comm);
            if (number == last) break;
            CHECK(number > before);
            received.resize(static_cast<std::size_t>(number), 0);
            received.push_back(1);
            before = number;
        }
        int sent = 0;
        OK(MPI_Recv(&sent, 1, MPI_INT, role.peer, tag, comm, MPI_STATUS_IGNORE));
        CHECK(received.size() <= static_cast<std::size_t>(sent));
        received.resize(static_cast<std::size_t>(sent), 0);
        std::vector<char> expected(received.size());
        OK(MPI_Recv(expected.data(), sent, MPI_CHAR, role.peer, tag, comm, MPI_STATUS_IGNORE));
        CHECK(expected == received);
        return;
    }
    std::minstd_rand random(static_cast<unsigned>(tag) + 1);
    std::vector<int> data = message(large, 0);
    int fates[2] = {0, 0};
    for (int i = 0; i < count || fates[0] == 0 || fates[1] == 0; ++i) {
        // Now and then a message is long: to fill the buffer takes more time than to send it.
        const int length = random() % 16 == 0 ? large : static_cast<int>(random() % 24);
        for (int k = 0; k < length; ++k) data[static_cast<std::size_t>(k)] = i;
        data[0] = i;
        MPI_Request request;
        OK((length == large && i % 2 == 0 ? MPI_Isend : MPI_Issend)(
            data.data(), length == 0 ? 1 : length, MPI_INT, role.peer, tag, comm, &request));
        const auto patience = random() % 64;
        const bool to_the_end = i >= count && fates[0] == 0;
        int done = 0;
        for (unsigned long k = 0; (k < patience || to_the_end) && !done; ++k) {
            if (patience % 8 == 0) sched_yield();
            OK(MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE));
        }
        OK(MPI_Cancel(&request));
        const bool cancelled = wait_cancelled(request);
        received.push_back(!cancelled);
        ++fates[cancelled];
        // The buffer is free again.
        for (int k = 0; k < length; ++k) data[static_cast<std::size_t>(k)] = -5;
    }
    const int sent = static_cast<int>(received.size());
    OK(MPI_Send(&last, 1, MPI_INT, role.peer, tag, comm));
    OK(MPI_Send(&sent, 1, MPI_INT, role.peer, tag, comm));
    OK(MPI_Send(received.data(), sent, MPI_CHAR, role.peer, tag, comm));
    std::printf("way %d: %d received, %d cancelled\n", static_cast<int>(way), fates[0], fates[1]);
}

/// Runs all races at once, on communicators of their own, so that wildcards find nothing else.
void races(const Role& role, const std::vector<MPI_Comm>& comms) {
    std::vector<std::thread> threads;
    for (int way = 0; way < static_cast<int>(Way::ways); ++way)
        threads.emplace_back([&role, &comms, way] {
            race(role, static_cast<Way>(way), 100 + way, comms[static_cast<std::size_t>(way)]);
        });
    for (std::thread& thread : threads) thread.join();
}

// --- ends ---

void play(const Role& role, const std::vector<MPI_Comm>& comms) {
    // Each part starts when the peer has ended the one before, from zeroes.
    const auto stage = [&](const auto& part) {
        part();
        int word = 0;
        if (role.sends) {
            OK(MPI_Recv(&word, 0, MPI_INT, role.peer, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            role.pair.said_by_sender.store(0);
            role.pair.said_by_receiver.store(0);
            OK(MPI_Send(&word, 0, MPI_INT, role.peer, 98, MPI_COMM_WORLD));
        } else {
            OK(MPI_Send(&word, 0, MPI_INT, role.peer, 99, MPI_COMM_WORLD));
            OK(MPI_Recv(&word, 0, MPI_INT, role.peer, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
    };
    for (int i = 0; i < 5; ++i) stage([&] { while_the_receiver_computes(role, MPI_Isend, huge); });
    for (const int length : {0, 1, 9, 2000, large})
        stage([&] { while_the_receiver_computes(role, MPI_Issend, length); });
    stage([&] { many(role); });
    stage([&] { small_ones(role); });
    for (const int length : {1, 9, 2000, large}) {
        stage([&] { probed(role, MPI_Issend, length); });
        stage([&] { taken_by_a_probe(role, MPI_Issend, length); });
        stage([&] { matched(role, MPI_Issend, length); });
        stage([&] { matched(role, MPI_Irsend, length); });
    }
    stage([&] { posted_afterwards(role, role.peer, 9); });
    stage([&] { posted_afterwards(role, MPI_ANY_SOURCE, 9); });
    stage([&] { posted_afterwards(role, role.peer, MPI_ANY_TAG); });
    stage([&] { posted_afterwards(role, MPI_ANY_SOURCE, MPI_ANY_TAG); });
    stage([&] { persistent(role); });
    stage([&] { buffered(role); });
    stage([&] { freed_and_by_others(role); });
    stage([&] { not_to_be_cancelled(role); });
    for (const int count : {4000, 700, 2000}) stage([&] { thousands(role, count); });
    stage([&] { in_bounded_memory(role); });
    stage([&] { never_received(role); });
    stage([&] { races(role, comms); });
    // A cancelled request that is never looked at does not keep a rank from ending.
    if (!role.sends) return;
    static const std::vector<int> data = message(large, 1);
    for (int i = 0; i < 700; ++i) {
        MPI_Request request;
        OK(MPI_Issend(data.data(), large, MPI_INT, role.peer, 18, MPI_COMM_WORLD, &request));
        OK(MPI_Cancel(&request));
        if (i % 2 == 0)
            OK(MPI_Request_free(&request));
        else
            CHECK(wait_cancelled(request));
    }
}

/// Communicators with cancelled messages may be freed, and others take their place.
void on_communicators_that_go(int rank, int size) {
    const std::vector<int> data = message(large, 1);
    for (int i = 0; i < 200; ++i) {
        MPI_Comm comm;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI_Request request;
        OK(MPI_Issend(data.data(), large, MPI_INT, (rank + 1) % size, 19, comm, &request));
        int found = 0;
        OK(MPI_Iprobe(MPI_ANY_SOURCE, 19, comm, &found, MPI_STATUS_IGNORE));
        OK(MPI_Cancel(&request));
        CHECK(wait_cancelled(request));
        OK(i % 2 == 0 ? MPI_Comm_free(&comm) : MPI_Comm_disconnect(&comm));
    }
}

/// Maps the memory of the pairs, which rank 0 makes.
Pair* share(int rank, int size) {
    char path[64] = "";
    int descriptor = -1;
    const auto bytes = sizeof(Pair) * static_cast<std::size_t>(size);
    if (rank == 0) {
        descriptor = memfd_create("pairs", 0);
        CHECK(descriptor != -1 && ftruncate(descriptor, static_cast<off_t>(bytes)) == 0);
        std::snprintf(path, sizeof path, "/proc/%d/fd/%d", getpid(), descriptor);
    }
    OK(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD));
    std::FILE* file = std::fopen(path, "r+");
    CHECK(file != nullptr);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    CHECK(memory != MAP_FAILED);
    std::fclose(file);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) close(descriptor);
    return static_cast<Pair*>(memory);
}

}  // namespace

int main(int argc, char** argv) {
    int rank = -1, size = 0;
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    if (argc > 1) rounds = std::atoi(argv[1]);
    std::vector<MPI_Comm> comms(static_cast<std::size_t>(Way::ways));
    for (MPI_Comm& comm : comms) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    Pair* pairs = share(rank, size);
    on_communicators_that_go(rank, size);
    const int peer = rank % 2 != 0 ? rank - 1 : rank + 1 < size ? rank + 1 : rank;
    Pair& pair = pairs[rank < peer ? rank : peer];
    if (peer == rank) {
        std::thread receiver([&] { play({pair, peer, false, true}, comms); });
        play({pair, peer, true, true}, comms);
        receiver.join();
    } else {
        play({pair, peer, rank % 2 == 0, false}, comms);
    }
    for (MPI_Comm& comm : comms) OK(MPI_Comm_free(&comm));
    OK(MPI_Finalize());
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
/// Random traffic of many threads of many ranks, in plain MPI. It ends by its own protocol when
/// HEDDLE_STRESS_SECONDS (default 5) are over. If a message is wrong, or nothing has happened for a
/// minute, it ends with a report about each thread.
///
///     mpiexec -n 16 stress [--threads 4] [--seed 1] [--probes] [--dup] [--loose]
///
/// scatter   each thread sends to random ranks, itself included, and takes any messages of its
///           rank: by wildcards of both kinds, exact receives, cancelled ones. A rank is done when
///           all ranks have said how much they sent and that much has come.
/// streams   each thread sends a list of messages to one rank and receives a list from another.
///           Both compute it from a seed. Messages are blocking, nonblocking, synchronous,
///           completed by all calls.
///
/// --probes  also MPI_Probe and its relatives.
/// --dup     both at once, on two communicators.
/// --loose   says nothing about the order in which wildcards see messages of different tags.

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <mpi.h>

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
    int threads = 4;
    unsigned seed = 1;
    bool probes = false;
    bool dup = false;
    bool loose = false;
    int seconds = 5;
} options;

int rank, ranks;

// --- the words of a report ---

struct Doing {
    std::atomic<const char*> what{"starting"};
    std::atomic<int> round{0};
    std::atomic<std::uint64_t> steps{0};
    std::atomic<std::uint64_t> sent{0}, received{0};
};
std::unique_ptr<Doing[]> doing;
std::atomic<int> scatter_got{0}, scatter_expected{0}, scatter_overs{0};
std::atomic<bool> ended{false};

[[noreturn]] void give_up(const char* why) {
    std::string text = "rank " + std::to_string(rank) + " (seed " + std::to_string(options.seed) +
        "): " + why + "\n";
    for (int i = 0; i < options.threads; ++i) {
        const Doing& d = doing[static_cast<std::size_t>(i)];
        text += "  thread " + std::to_string(i) + " round " + std::to_string(d.round) + " sent " +
            std::to_string(d.sent) + " received " + std::to_string(d.received) + ": " +
            d.what.load() + "\n";
    }
    text += "  scatter: got " + std::to_string(scatter_got) + " of " +
        std::to_string(scatter_expected) + ", ranks that are over " +
        std::to_string(scatter_overs) + "\n";
    std::fputs(text.c_str(), stderr);
    std::abort();
}

void watch() {
    std::uint64_t seen = 0;
    Clock::time_point since = Clock::now();
    while (!ended) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        std::uint64_t now = 0;
        for (int i = 0; i < options.threads; ++i) now += doing[static_cast<std::size_t>(i)].steps;
        if (now != seen) {
            seen = now;
            since = Clock::now();
        } else if (Clock::now() - since > std::chrono::seconds(60)) {
            give_up("nothing has happened for 60 s");
        }
    }
}

// --- messages ---

enum class Kind : std::uint32_t {
    data = 0x64617461,
    over = 0x6f766572,
    stop = 0x73746f70,
    ready = 0x72656479
};

struct Header {
    Kind kind;
    std::int32_t rank, thread, sequence, tag;
    std::uint32_t bytes;  ///< of the whole message; the number of messages sent, if over
    std::uint64_t sum;    ///< of the data that follows
};

std::uint64_t sum_of(const std::byte* data, std::size_t bytes) {
    std::uint64_t sum = bytes;
    for (; bytes >= 8; data += 8, bytes -= 8) {
        std::uint64_t word;
        std::memcpy(&word, data, 8);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15U;
    }
    for (; bytes > 0; ++data, --bytes) sum = (sum ^ static_cast<std::uint64_t>(*data)) * 31;
    return sum;
}

constexpr std::size_t most_bytes = 400 * 1024;  // both sides copy the largest

std::size_t random_size(std::mt19937& random) {
    switch (random() % 20) {
        case 0: return sizeof(Header) + random() % (most_bytes - sizeof(Header));
        case 1:
        case 2:
        case 3: return sizeof(Header) + random() % 12000;
        case 4:
        case 5:
        case 6:
        case 7: return sizeof(Header) + random() % 1000;
        default: return sizeof(Header) + random() % 40;
    }
}

using Buffer = std::vector<std::byte>;

void fill(Buffer& buffer, std::size_t bytes, Header header, unsigned seed) {
    buffer.resize(bytes);
    std::minstd_rand random(seed + 1);
    for (std::size_t i = sizeof(Header); i + 4 <= bytes; i += 4) {
        const auto word = static_cast<std::uint32_t>(random());
        std::memcpy(buffer.data() + i, &word, 4);
    }
    if (header.kind == Kind::data) header.bytes = static_cast<std::uint32_t>(bytes);
    header.sum = sum_of(buffer.data() + sizeof(Header), bytes - sizeof(Header));
    std::memcpy(buffer.data(), &header, sizeof header);
}

Header check(const Buffer& buffer, int source, int tag, const char* where) {
    Header header;
    std::memcpy(&header, buffer.data(), sizeof header);
    const std::size_t bytes = header.kind == Kind::data ? header.bytes : sizeof(Header);
    if (bytes > buffer.size() || header.rank != source || header.tag != tag ||
        header.sum != sum_of(buffer.data() + sizeof header, bytes - sizeof header)) {
        static thread_local char text[200];
        std::snprintf(text, sizeof text, "%s: wrong content: status %d/%d, header %d/%d, %zu bytes",
                      where, source, tag, header.rank, header.tag, bytes);
        give_up(text);
    }
    return header;
}

bool untouched(const Buffer& buffer) {
    Header header;
    std::memcpy(&header, buffer.data(), sizeof header);
    return header.kind == Kind{};
}

// --- threads of a rank ---

constexpr int scatter_tags = 8;
constexpr int stream_tags = 100;  ///< and above: one hundred for each thread
constexpr int control_tag = 50;

class Thread {
public:
    Thread(int number, MPI_Comm scatter, MPI_Comm streams)
        : number_(number),
          scatter_(scatter),
          streams_(streams),
          random_(options.seed * 1000003 + static_cast<unsigned>(rank * 64 + number)),
          me_(doing[static_cast<std::size_t>(number)]) {}

    void scatter(int round);
    void streams(int round);

private:
    friend struct Scatter;
    struct Send {
        Buffer data;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    struct Receive {
        Buffer data;
        MPI_Request request = MPI_REQUEST_NULL;
        bool complete = false;
        bool any = false;
        MPI_Status status{};
    };

    void step(const char* what) {
        me_.what = what;
        me_.steps.fetch_add(1, std::memory_order_relaxed);
    }
    unsigned dice(unsigned sides) { return static_cast<unsigned>(random_() % sides); }

    void send_scattered(Kind kind, int to, std::uint32_t count, int sequence);
    void post_scattered(bool wildcard);
    void count_scattered(const Buffer& data, const MPI_Status& status);
    void check_order(const Buffer& data, bool any);
    void complete_scattered(Receive& receive, const MPI_Status& status);
    void settle_in_order();
    void complete_some(bool may_block);
    void probe_scattered(bool may_block);

    const int number_;
    const MPI_Comm scatter_, streams_;
    std::mt19937 random_;
    Doing& me_;
    std::deque<Send> sends_;
    std::deque<Receive> posted_;
    std::vector<int> latest_, latest_any_;
    int stops_taken_ = 0;
};

/// The state that the threads of a rank share while they scatter.
struct Scatter {
    std::atomic<int> finished{0};
    std::unique_ptr<std::atomic<std::uint32_t>[]> sent_to =
        std::make_unique<std::atomic<std::uint32_t>[]>(static_cast<std::size_t>(ranks));
    std::atomic<bool> done{false};
    std::atomic<int> stops{0};

    void reset() {
        finished = 0;
        for (int i = 0; i < ranks; ++i) sent_to[static_cast<std::size_t>(i)] = 0;
        done = false;
        stops = 0;
        scatter_got = scatter_expected = scatter_overs = 0;
    }
    /// Returns true to the one thread that finds the rank done.
    bool is_done() {
        return scatter_overs == ranks && scatter_got == scatter_expected && !done.exchange(true);
    }
};
std::unique_ptr<Scatter> shared;
std::atomic<int> ready_ranks{0};  ///< ranks that have told rank 0 so

void Thread::send_scattered(Kind kind, int to, std::uint32_t count, int sequence) {
    const int tag = static_cast<int>(dice(scatter_tags));
    Send& send = sends_.emplace_back();
    const std::size_t bytes = kind == Kind::data ? random_size(random_) : sizeof(Header);
    fill(send.data, bytes, {kind, rank, number_, sequence, tag, count, 0},
         static_cast<unsigned>(sequence) * 64 + static_cast<unsigned>(number_));
    if (dice(4) == 0 && kind == Kind::data)
        MPI_Issend(send.data.data(), static_cast<int>(bytes), MPI_BYTE, to, tag, scatter_,
                   &send.request);
    else
        MPI_Isend(send.data.data(), static_cast<int>(bytes), MPI_BYTE, to, tag, scatter_,
                  &send.request);
    ++me_.sent;
}

void Thread::post_scattered(bool wildcard) {
    Receive& receive = posted_.emplace_back();
    receive.data.resize(most_bytes);
    std::memset(receive.data.data(), 0, sizeof(Header));
    const int source = wildcard || dice(2) == 0
        ? MPI_ANY_SOURCE
        : static_cast<int>(dice(static_cast<unsigned>(ranks)));
    const int tag = wildcard || dice(3) == 0 ? MPI_ANY_TAG : static_cast<int>(dice(scatter_tags));
    receive.any = source == MPI_ANY_SOURCE && tag == MPI_ANY_TAG;
    MPI_Irecv(receive.data.data(), static_cast<int>(most_bytes), MPI_BYTE, source, tag, scatter_,
              &receive.request);
}

void Thread::count_scattered(const Buffer& data, const MPI_Status& status) {
    const Header header = check(data, status.MPI_SOURCE, status.MPI_TAG, "scatter");
    switch (header.kind) {
        case Kind::stop:
            ++shared->stops;
            ++stops_taken_;
            return;
        case Kind::ready: ++ready_ranks; return;  // met by a wildcard before another_round()
        case Kind::over:
            scatter_expected += static_cast<int>(header.bytes);
            ++scatter_overs;  // after scatter_expected
            break;
        case Kind::data: ++me_.received; ++scatter_got;
    }
    if (shared->is_done()) {
        // Wakes the threads that wait for any message.
        for (int i = 0; i < options.threads; ++i) send_scattered(Kind::stop, rank, 0, i);
    }
}

/// Checks messages in the order in which their receives were posted.
void Thread::check_order(const Buffer& data, bool any) {
    Header header;
    std::memcpy(&header, data.data(), sizeof header);
    if (header.kind != Kind::data) return;
    const int from = header.rank * options.threads + header.thread;
    int& last = latest_[static_cast<std::size_t>(from * scatter_tags + header.tag)];
    int& last_any = latest_any_[static_cast<std::size_t>(from)];
    if (header.sequence <= last || (any && !options.loose && header.sequence <= last_any)) {
        static thread_local char text[200];
        std::snprintf(text, sizeof text,
                      "scatter: overtaken: %d.%d tag %d: %d after %d (wildcard %d after %d)",
                      header.rank, header.thread, header.tag, header.sequence, last, any, last_any);
        give_up(text);
    }
    last = header.sequence;
    if (any) last_any = header.sequence;
}

void Thread::complete_scattered(Receive& receive, const MPI_Status& status) {
    receive.complete = true;
    if (!untouched(receive.data)) count_scattered(receive.data, status);
}

void Thread::settle_in_order() {
    for (; !posted_.empty() && posted_.front().complete; posted_.pop_front())
        if (!untouched(posted_.front().data))
            check_order(posted_.front().data, posted_.front().any);
}

void Thread::complete_some(bool may_block) {
    std::vector<MPI_Request> requests;
    std::vector<Receive*> receives;
    for (Receive& r : posted_)
        if (!r.complete) {
            requests.push_back(r.request);
            receives.push_back(&r);
        }
    const std::size_t first_send = requests.size();
    for (Send& s : sends_) requests.push_back(s.request);
    if (requests.empty()) return;
    const int count = static_cast<int>(requests.size());
    std::vector<MPI_Status> statuses(requests.size());
    std::vector<int> indices(requests.size());
    int completed = 0;
    switch (dice(may_block ? 5 : 3)) {
        case 0:
            MPI_Testsome(count, requests.data(), &completed, indices.data(), statuses.data());
            break;
        case 1: {
            int flag = 0;
            MPI_Testany(count, requests.data(), &indices[0], &flag, &statuses[0]);
            completed = flag && indices[0] != MPI_UNDEFINED ? 1 : 0;
            break;
        }
        case 2: {
            int flag = 0;
            MPI_Testall(count, requests.data(), &flag, statuses.data());
            completed = flag ? count : 0;
            for (int i = 0; i < completed; ++i) indices[static_cast<std::size_t>(i)] = i;
            break;
        }
        case 3:
            MPI_Waitsome(count, requests.data(), &completed, indices.data(), statuses.data());
            break;
        default:
            MPI_Waitany(count, requests.data(), &indices[0], &statuses[0]);
            completed = indices[0] == MPI_UNDEFINED ? 0 : 1;
    }
    std::vector<std::pair<Receive*, MPI_Status>> came;
    for (int i = 0; i < completed; ++i) {
        const auto at = static_cast<std::size_t>(indices[static_cast<std::size_t>(i)]);
        if (at < first_send) came.emplace_back(receives[at], statuses[static_cast<std::size_t>(i)]);
    }
    for (std::size_t i = 0; i < first_send; ++i) receives[i]->request = requests[i];
    for (std::size_t i = first_send; i < requests.size(); ++i)
        sends_[i - first_send].request = requests[i];
    std::erase_if(sends_, [](const Send& s) { return s.request == MPI_REQUEST_NULL; });
    for (auto& [receive, status] : came) complete_scattered(*receive, status);
}

void Thread::probe_scattered([[maybe_unused]] bool may_block) {
#ifndef HEDDLE_STRESS_WITHOUT_PROBES
    // If receives are posted, their order relative to messages taken here would be unknown.
    if (!posted_.empty()) return;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int flag = 0;
    const bool any = dice(2) == 0;
    const int tag = any ? MPI_ANY_TAG : static_cast<int>(dice(scatter_tags));
    if (any && may_block && dice(3) == 0) {
        step("MPI_Mprobe");
        MPI_Mprobe(MPI_ANY_SOURCE, tag, scatter_, &message, &status);
        flag = 1;
    } else if (dice(2) == 0) {
        MPI_Iprobe(MPI_ANY_SOURCE, tag, scatter_, &flag, &status);
        return;
    } else {
        MPI_Improbe(MPI_ANY_SOURCE, tag, scatter_, &flag, &message, &status);
    }
    if (!flag) return;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Buffer data(static_cast<std::size_t>(bytes));
    step("MPI_Mrecv");
    MPI_Mrecv(data.data(), bytes, MPI_BYTE, &message, &status);
    count_scattered(data, status);
    check_order(data, any);
#endif
}

void Thread::scatter(int round) {
    me_.round = round;
    const int quota = 20 + static_cast<int>(dice(60));
    latest_.assign(static_cast<std::size_t>(ranks * options.threads * scatter_tags), -1);
    latest_any_.assign(static_cast<std::size_t>(ranks * options.threads), -1);
    int sent = 0;
    while (!shared->done) {
        step("scatter: sending");
        if (sent < quota && sends_.size() < 16) {
            for (unsigned i = 1 + dice(4); i > 0 && sent < quota; --i) {
                const int to = static_cast<int>(dice(static_cast<unsigned>(ranks)));
                ++shared->sent_to[static_cast<std::size_t>(to)];
                send_scattered(Kind::data, to, 0, sent++);
            }
            if (sent == quota && ++shared->finished == options.threads)
                for (int to = 0; to < ranks; ++to)
                    send_scattered(Kind::over, to, shared->sent_to[static_cast<std::size_t>(to)],
                                   0);
        }
        if (options.probes && dice(4) == 0) probe_scattered(sent == quota);
        step("scatter: posting");
        // A thread may block once it has sent everything, or for sends of its own to complete:
        // others may wait for its messages. There must be a wildcard, for which a stop will come in
        // the end.
        bool wildcard = false;
        for (const Receive& r : posted_) wildcard = wildcard || (r.any && !r.complete);
        while (posted_.size() < 4 && dice(3) != 0) {
            const bool any = dice(3) == 0;
            post_scattered(any);
            wildcard = wildcard || posted_.back().any;
        }
        const bool may_block = wildcard && (sent == quota || (!sends_.empty() && dice(2) == 0));
        step(may_block ? "scatter: completing, blocking" : "scatter: completing");
        if (!shared->done || !may_block) complete_some(may_block);
        settle_in_order();
        if (!posted_.empty() && dice(8) == 0) {  // cancels a receive
            Receive& receive = posted_[dice(static_cast<unsigned>(posted_.size()))];
            if (!receive.complete) {
                step("scatter: cancelling");
                MPI_Cancel(&receive.request);
                MPI_Wait(&receive.request, &receive.status);
                complete_scattered(receive, receive.status);
            }
            settle_in_order();
        }
    }
    step("scatter: cancelling the rest");
    for (Receive& receive : posted_) {
        if (receive.complete) continue;
        MPI_Cancel(&receive.request);
        MPI_Wait(&receive.request, &receive.status);
        complete_scattered(receive, receive.status);
    }
    settle_in_order();
    step("scatter: finishing sends");
    // Others may still be blocked: the stops that this thread took are theirs.
    shared->stops -= stops_taken_;
    for (; stops_taken_ > 0; --stops_taken_) send_scattered(Kind::stop, rank, 0, 0);
    for (Send& send : sends_) MPI_Wait(&send.request, MPI_STATUS_IGNORE);
    sends_.clear();
}

/// A stream of messages from thread t of one rank to thread t of another. Both know it.
struct Stream {
    std::vector<std::size_t> sizes;
    std::vector<int> tags;

    Stream(int round, int thread, int from) {
        std::mt19937 random(options.seed * 7919 +
                            static_cast<unsigned>((round * 64 + thread) * 4096 + from));
        const std::size_t count = 1 + random() % 24;
        for (std::size_t i = 0; i < count; ++i) {
            sizes.push_back(random() % 10 == 0 ? 0 : random_size(random));
            // The round tells them apart: a rank may be ahead, and MPI_ANY_SOURCE accepts any
            // sender.
            tags.push_back(stream_tags * (1 + thread) + round % 20 * 4 +
                           static_cast<int>(random() % 4));
        }
    }
};

void Thread::streams(int round) {
    me_.round = round;
    std::mt19937 common(options.seed * 31 + static_cast<unsigned>(round * 64 + number_));
    const int distance = static_cast<int>(common() % static_cast<unsigned>(ranks));
    const unsigned way = common() % 5;
    const int to = (rank + distance) % ranks, from = (rank - distance + ranks) % ranks;
    const Stream out(round, number_, rank), in(round, number_, from);
    std::vector<Send> sends(out.sizes.size());
    std::vector<Receive> receives(in.sizes.size());
    for (std::size_t i = 0; i < sends.size(); ++i)
        if (out.sizes[i] != 0)
            fill(sends[i].data, out.sizes[i],
                 {Kind::data, rank, number_, static_cast<int>(i), out.tags[i], 0, 0},
                 static_cast<unsigned>(i));
    for (std::size_t i = 0; i < receives.size(); ++i) receives[i].data.resize(in.sizes[i]);

    const auto start_receive = [&](std::size_t i) {
        Receive& r = receives[i];
        MPI_Irecv(r.data.data(), static_cast<int>(r.data.size()), MPI_BYTE,
                  dice(2) == 0 ? from : MPI_ANY_SOURCE, in.tags[i], streams_, &r.request);
    };
    const auto start_send = [&](std::size_t i) {
        Send& s = sends[i];
        const int bytes = static_cast<int>(s.data.size());
        if (dice(3) == 0)
            MPI_Issend(s.data.data(), bytes, MPI_BYTE, to, out.tags[i], streams_, &s.request);
        else
            MPI_Isend(s.data.data(), bytes, MPI_BYTE, to, out.tags[i], streams_, &s.request);
    };
    const auto send = [&](std::size_t i) {
        const int bytes = static_cast<int>(sends[i].data.size());
        if (dice(3) == 0)
            MPI_Ssend(sends[i].data.data(), bytes, MPI_BYTE, to, out.tags[i], streams_);
        else
            MPI_Send(sends[i].data.data(), bytes, MPI_BYTE, to, out.tags[i], streams_);
    };
    const auto receive = [&](std::size_t i) {
        Receive& r = receives[i];
        MPI_Recv(r.data.data(), static_cast<int>(r.data.size()), MPI_BYTE, from, in.tags[i],
                 streams_, &r.status);
    };
    const auto complete = [&](std::vector<MPI_Request>& requests) {
        const int count = static_cast<int>(requests.size());
        std::vector<int> indices(requests.size());
        for (int left = count; left > 0;) {
            int completed = 0, flag = 0;
            step("streams: completing");
            switch (dice(6)) {
                case 0: MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE); return;
                case 1:
                    MPI_Waitany(count, requests.data(), &completed, MPI_STATUS_IGNORE);
                    --left;
                    break;
                case 2:
                    MPI_Waitsome(count, requests.data(), &completed, indices.data(),
                                 MPI_STATUSES_IGNORE);
                    left -= completed;
                    break;
                case 3:
                    MPI_Testall(count, requests.data(), &flag, MPI_STATUSES_IGNORE);
                    if (flag) return;
                    break;
                case 4:
                    MPI_Testany(count, requests.data(), &completed, &flag, MPI_STATUS_IGNORE);
                    left -= flag;
                    break;
                default:
                    MPI_Testsome(count, requests.data(), &completed, indices.data(),
                                 MPI_STATUSES_IGNORE);
                    left -= completed;
            }
        }
    };
    std::vector<MPI_Request> requests;
    MPI_Request unwanted = MPI_REQUEST_NULL;
    int nothing = 0;
    if (dice(4) == 0)
        MPI_Irecv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, stream_tags * (1 + number_) + 99, streams_,
                  &unwanted);

    switch (way) {
        case 0:
            step("streams: receives first, then blocking sends");
            for (std::size_t i = 0; i < receives.size(); ++i) start_receive(i);
            for (std::size_t i = 0; i < sends.size(); ++i) send(i), step("streams: blocking sends");
            for (Receive& r : receives) requests.push_back(r.request);
            complete(requests);
            break;
        case 1:
            step("streams: sends first, then blocking receives");
            for (std::size_t i = 0; i < sends.size(); ++i) start_send(i);
            for (std::size_t i = 0; i < receives.size(); ++i)
                receive(i), step("streams: blocking receives");
            for (Send& s : sends) requests.push_back(s.request);
            complete(requests);
            break;
        case 2:
            step("streams: all at once");
            for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
                if (i < receives.size()) start_receive(i);
                if (i < sends.size()) start_send(i);
            }
            for (Receive& r : receives) requests.push_back(r.request);
            for (Send& s : sends) requests.push_back(s.request);
            complete(requests);
            break;
        case 3:
            step("streams: unexpected messages first");
            for (std::size_t i = 0; i < sends.size(); ++i) start_send(i);
            for (int i = 0; i < 20; ++i) {
                int flag = 0;
                MPI_Test(&sends.back().request, &flag, MPI_STATUS_IGNORE);
            }
            for (std::size_t i = 0; i < receives.size(); ++i) start_receive(i);
            for (Send& s : sends) requests.push_back(s.request);
            for (Receive& r : receives) requests.push_back(r.request);
            complete(requests);
            break;
        default:
            for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
                step("streams: MPI_Sendrecv");
                if (i < sends.size() && i < receives.size())
                    MPI_Sendrecv(sends[i].data.data(), static_cast<int>(sends[i].data.size()),
                                 MPI_BYTE, to, out.tags[i], receives[i].data.data(),
                                 static_cast<int>(receives[i].data.size()), MPI_BYTE, from,
                                 in.tags[i], streams_, MPI_STATUS_IGNORE);
                else if (i < receives.size())
                    receive(i);
                else
                    start_send(i);
            }
            for (Send& s : sends) requests.push_back(s.request);
            complete(requests);
    }
    if (unwanted != MPI_REQUEST_NULL) {
        step("streams: cancelling");
        MPI_Cancel(&unwanted);
        MPI_Wait(&unwanted, MPI_STATUS_IGNORE);
    }
    for (std::size_t i = 0; i < receives.size(); ++i) {
        if (in.sizes[i] == 0) continue;
        const Header header = check(receives[i].data, from, in.tags[i], "streams");
        if (header.sequence != static_cast<int>(i) || header.thread != number_)
            give_up("streams: a message came out of order");
    }
    me_.sent += sends.size();
    me_.received += receives.size();
}

/// Returns whether there is another round. All ranks come here before one goes on, and rank 0
/// decides. The messages to rank 0 may meet wildcards there, which it then counts.
bool another_round(Clock::time_point end) {
    int more = Clock::now() < end ? 1 : 0;
    Buffer data;
    if (rank == 0) {
        while (ready_ranks < ranks - 1) {
            data.resize(sizeof(Header));
            MPI_Recv(data.data(), sizeof(Header), MPI_BYTE, MPI_ANY_SOURCE, control_tag,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            ++ready_ranks;
        }
        ready_ranks = 0;
        for (int i = 1; i < ranks; ++i) MPI_Send(&more, 1, MPI_INT, i, control_tag, MPI_COMM_WORLD);
    } else {
        fill(data, sizeof(Header), {Kind::ready, rank, 0, 0, control_tag, 0, 0}, 0);
        MPI_Send(data.data(), sizeof(Header), MPI_BYTE, 0, control_tag, MPI_COMM_WORLD);
        MPI_Recv(&more, 1, MPI_INT, 0, control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return more != 0;
}

/// Receives messages of kind stop that no thread needed.
void take_stops(MPI_Comm comm) {
    while (shared->stops < options.threads) {
        Buffer data(sizeof(Header));
        MPI_Status status;
        MPI_Recv(data.data(), sizeof(Header), MPI_BYTE, rank, MPI_ANY_TAG, comm, &status);
        if (check(data, status.MPI_SOURCE, status.MPI_TAG, "stops").kind != Kind::stop)
            give_up("a message came that nobody counted");
        ++shared->stops;
    }
}

void run_thread(int number, MPI_Comm scatter, MPI_Comm streams, std::barrier<>& barrier,
                Clock::time_point end, std::atomic<bool>& more) {
    Thread thread(number, scatter, streams);
    for (int round = 0; more; ++round) {
        const bool mixed = options.dup && round % 2 == 0;
        // In a mixed round half of the threads stream meanwhile.
        if (mixed) {
            thread.streams(3 * round);
            thread.scatter(round);
        } else {
            thread.scatter(round);
        }
        barrier.arrive_and_wait();
        if (number == 0) {
            take_stops(scatter);
            shared->reset();
            another_round(end);
        }
        barrier.arrive_and_wait();
        for (int i = 1; i <= 3; ++i) thread.streams(3 * round + i);
        barrier.arrive_and_wait();
        if (number == 0) more = another_round(end);
        barrier.arrive_and_wait();
    }
}

void read_options(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--threads" && i + 1 < argc)
            options.threads = std::atoi(argv[++i]);
        else if (word == "--seed" && i + 1 < argc)
            options.seed = static_cast<unsigned>(std::atoi(argv[++i]));
        else if (word == "--probes")
            options.probes = true;
        else if (word == "--dup")
            options.dup = true;
        else if (word == "--loose")
            options.loose = true;
        else {
            std::fprintf(stderr, "stress [--threads N] [--seed N] [--probes] [--dup] [--loose]\n");
            std::exit(2);
        }
    }
    if (const char* seconds = std::getenv("HEDDLE_STRESS_SECONDS");
        seconds != nullptr && *seconds != '\0')
        options.seconds = std::atoi(seconds);
}

}  // namespace

int main(int argc, char** argv) {
    read_options(argc, argv);
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE) return 77;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm scatter = MPI_COMM_WORLD;
    if (options.dup) MPI_Comm_dup(MPI_COMM_WORLD, &scatter);

    doing = std::make_unique<Doing[]>(static_cast<std::size_t>(options.threads));
    shared = std::make_unique<Scatter>();
    std::thread watcher(watch);
    std::barrier<> barrier(options.threads);
    std::atomic<bool> more{true};
    const Clock::time_point end = Clock::now() + std::chrono::seconds(options.seconds);
    std::vector<std::thread> threads;
    for (int i = 1; i < options.threads; ++i)
        threads.emplace_back(
            [&, i] { run_thread(i, scatter, MPI_COMM_WORLD, barrier, end, more); });
    run_thread(0, scatter, MPI_COMM_WORLD, barrier, end, more);
    for (std::thread& thread : threads) thread.join();
    ended = true;
    watcher.join();

    if (rank == 0) {
        std::uint64_t received = 0;
        for (int i = 0; i < options.threads; ++i)
            received += doing[static_cast<std::size_t>(i)].received;
        std::printf("seed %u: %d rounds, rank 0 received %llu messages\n", options.seed,
                    doing[0].round.load() / 3 + 1, static_cast<unsigned long long>(received));
    }
    if (options.dup) MPI_Comm_free(&scatter);
    return MPI_Finalize();
}

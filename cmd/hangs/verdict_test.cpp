// SPDX-License-Identifier: BSD-3-Clause
#include "hangs/verdict.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "hangs/report.hpp"
#include "json.hpp"

namespace heddle::hangs {
namespace {

using node::put_text;

constexpr std::uint32_t world = 2;

Thread asleep(int number) {
    Thread thread;
    thread.thread = static_cast<std::uint32_t>(number);
    thread.state = 'S';
    thread.attached = true;
    return thread;
}

/// A job that is looked at twice, in which every rank has one thread.
class Looks {
public:
    explicit Looks(int ranks) {
        for (int i = 0; i < ranks; ++i) {
            Rank& rank = now.ranks.emplace_back();
            rank.rank = i;
            rank.pid = 100 + i;
            rank.phase = node::Phase::initialized;
            rank.threads.push_back(asleep(100 + i));
        }
    }

    /// Makes the main thread of `rank` wait.
    node::AwaitedEvent& waits(int rank, const char* call, node::AwaitedKind kind, int peer) {
        Rank& at = now.ranks[static_cast<std::size_t>(rank)];
        if (at.waiting.empty()) {
            Waiting& waiting = at.waiting.emplace_back();
            waiting.thread = at.threads.front().thread;
            waiting.version = 2;
            waiting.seconds = 3;
            node::put_text(waiting.what.call, call);
        }
        node::AwaitedEvent* const listed = at.waiting.back().what.add();
        node::AwaitedEvent& event = listed != nullptr ? *listed : not_listed_;
        event.kind = kind;
        event.context = world;
        event.size = static_cast<int>(now.ranks.size());
        event.peer = event.world_peer = peer;
        event.tag = 7;
        return event;
    }
    void receives(int rank, int from) { waits(rank, "MPI_Recv", node::AwaitedKind::receive, from); }
    void receives_from_any(int rank) {
        node::AwaitedEvent& event =
            waits(rank, "MPI_Recv", node::AwaitedKind::receive, node::any_peer);
        event.any_peer = true;
        event.world_peer = -1;
        for (std::size_t i = 0; i < now.ranks.size(); ++i) event.add_member(static_cast<int>(i));
    }
    void collective(int rank, const char* call, std::uint32_t number, int peer) {
        waits(rank, call, node::AwaitedKind::collective, peer).number = number;
    }
    void runs(int rank) { now.ranks[static_cast<std::size_t>(rank)].threads.front().state = 'R'; }
    Thread& another_thread(int rank) {
        Rank& at = now.ranks[static_cast<std::size_t>(rank)];
        return at.threads.emplace_back(asleep(900));
    }

    Verdict verdict() const { return judge(now, now); }
    /// Returns the verdict on a job in which `change` has happened before the second look.
    Verdict verdict_after(const std::function<void(Snapshot&)>& change) const {
        Snapshot later = now;
        change(later);
        return judge(now, later);
    }

    Snapshot now;

private:
    node::AwaitedEvent not_listed_{};
};

Looks circle() {
    Looks job(3);
    job.receives(0, 1);
    job.receives(1, 0);
    job.receives(2, 0);
    return job;
}

using Kind = Verdict::Kind;

TEST(Verdict, names_a_deadlock_and_its_circle) {
    const Verdict verdict = circle().verdict();
    EXPECT_EQ(verdict.kind, Kind::deadlock);
    EXPECT_EQ(verdict.ranks, (std::vector<int>{0, 1, 2}));
    ASSERT_EQ(verdict.sentences.size(), 3U);
    EXPECT_EQ(verdict.sentences[1],
              "rank 0 waits for rank 1 in MPI_Recv(source 1, tag 7, MPI_COMM_WORLD)");
    EXPECT_EQ(verdict.sentences[2],
              "rank 1 waits for rank 0 in MPI_Recv(source 0, tag 7, MPI_COMM_WORLD)");
}

TEST(Verdict, is_of_all_if_each_rank_is_stuck_or_has_ended) {
    Looks job = circle();
    EXPECT_TRUE(job.verdict().is_of_all(job.now));
    // Rank 2 has woken between the looks.
    const Verdict partial =
        job.verdict_after([](Snapshot& later) { ++later.ranks[2].threads.front().switches; });
    EXPECT_EQ(partial.ranks, (std::vector<int>{0, 1}));
    EXPECT_FALSE(partial.is_of_all(job.now));
    job.now.ranks[2].end = "ended with exit code 0";
    EXPECT_TRUE(partial.is_of_all(job.now));
}

TEST(Verdict, counts_no_thread_that_waits_for_another_one_of_its_rank) {
    Looks job = circle();
    for (Rank& rank : job.now.ranks) rank.thread_level = 4096;
    Thread& other = job.another_thread(1);
    EXPECT_EQ(job.verdict().kind, Kind::none);
    other.wait = {ProgramWait::Kind::own_process, 101};
    EXPECT_EQ(job.verdict().kind, Kind::deadlock);
    EXPECT_EQ(job.verdict_after([](Snapshot& later) { ++later.ranks[1].threads[1].switches; }).kind,
              Kind::none);
}

/// Counts messages from one rank to another one that has not taken them yet.
void send(Looks& job, int from, int to, std::uint64_t messages) {
    job.now.ranks[static_cast<std::size_t>(from)].traffic.sent[node::traffic_group(to)] += messages;
}
void take(Looks& job, int rank, std::uint64_t messages) {
    job.now.ranks[static_cast<std::size_t>(rank)].traffic.taken += messages;
}

/// Returns circle() with each rank on a host of its own. Each rank has taken the messages of the
/// one before.
Looks circle_of_hosts() {
    Looks job = circle();
    job.now.several_hosts = true;
    for (int rank = 0; rank < 3; ++rank) {
        job.now.ranks[static_cast<std::size_t>(rank)].traffic.is_counted = true;
        send(job, (rank + 2) % 3, rank, 5);
        take(job, rank, 5);
    }
    return job;
}

TEST(Verdict, on_several_hosts_needs_that_all_that_was_sent_is_taken) {
    Looks job = circle_of_hosts();
    EXPECT_EQ(job.verdict().kind, Kind::deadlock);
    send(job, 0, 2, 2);
    take(job, 2, 2);
    EXPECT_EQ(job.verdict().kind, Kind::deadlock);
    send(job, 1, 0, 1);
    const Verdict verdict = job.verdict();
    EXPECT_EQ(verdict.kind, Kind::none);
    EXPECT_EQ(verdict.sentences.front(), "no verdict: messages are on their way between hosts");
}

TEST(Verdict, on_several_hosts_is_none_if_something_came_between_the_looks) {
    const auto both = [](Snapshot& later) {
        later.ranks[0].traffic.sent[1] = 6;
        later.ranks[1].traffic.taken = 6;
    };
    EXPECT_EQ(circle_of_hosts().verdict_after(both).kind, Kind::none);
}

TEST(Verdict, on_several_hosts_counts_what_ended_ranks_have_sent) {
    Looks job = circle_of_hosts();
    Rank& last = job.now.ranks[2];
    last.end = "ended with exit code 0";
    last.waiting.clear();
    EXPECT_EQ(job.verdict().kind, Kind::deadlock);
    send(job, 2, 1, 1);
    EXPECT_EQ(job.verdict().kind, Kind::none);
}

TEST(Verdict, on_several_hosts_leaves_out_messages_to_ended_ranks) {
    Looks job = circle_of_hosts();
    job.now.ranks[2].end = "ended with exit code 0";
    send(job, 1, 2, 3);
    EXPECT_EQ(job.verdict().kind, Kind::deadlock);
    send(job, 2, 0, 1);
    EXPECT_EQ(job.verdict().kind, Kind::none);
}

TEST(Verdict, on_several_hosts_counts_messages_to_groups_of_ranks) {
    Looks job = circle_of_hosts();
    job.now.ranks[2].end = "ended with exit code 0";
    Rank& other = job.now.ranks.emplace_back(job.now.ranks[0]);
    other.rank = 2 + static_cast<int>(node::traffic_groups);
    other.traffic.sent.fill(0);
    other.traffic.taken = 0;
    EXPECT_EQ(job.verdict().kind, Kind::deadlock);
    send(job, 1, 2, 1);  // perhaps to the other rank of the group
    EXPECT_EQ(job.verdict().kind, Kind::none);
}

TEST(Verdict, on_several_hosts_lets_the_thread_wake_whose_messages_are_counted) {
    const auto wakes = [](Snapshot& later) { ++later.ranks[1].threads.back().switches; };
    Looks job = circle_of_hosts();
    Thread& worker = job.another_thread(1);
    worker.of_library = true;
    EXPECT_EQ(job.verdict_after(wakes).kind, Kind::none);
    worker.is_counted = true;
    EXPECT_EQ(job.verdict_after(wakes).kind, Kind::deadlock);
    worker.state = 'R';
    EXPECT_EQ(job.verdict().kind, Kind::none);
    worker.state = 'S';
    job.now.several_hosts = false;
    EXPECT_EQ(job.verdict_after(wakes).kind, Kind::none);
}

TEST(Verdict, on_several_hosts_is_none_if_a_rank_does_not_count) {
    Looks job = circle_of_hosts();
    job.now.ranks[1].traffic = {};
    EXPECT_EQ(job.verdict().sentences.front(),
              "no verdict: rank 1 did not count what went to other hosts");
    for (Rank& rank : job.now.ranks) rank.traffic = {};  // all ranks are on one of the hosts
    EXPECT_EQ(job.verdict().kind, Kind::deadlock);
}

TEST(Verdict, is_none_if_nothing_is_heard_of_a_rank) {
    Looks job = circle_of_hosts();
    job.now.ranks[2].is_heard_of = false;
    EXPECT_EQ(job.verdict().sentences.front(), "no verdict: nothing is heard of rank 2");
}

TEST(Verdict, is_none_if_a_thread_has_run_between_the_looks) {
    EXPECT_EQ(circle()
                  .verdict_after([](Snapshot& later) { later.ranks[1].threads[0].switches = 1; })
                  .kind,
              Kind::none);
    EXPECT_EQ(
        circle().verdict_after([](Snapshot& later) { later.ranks[1].threads[0].ticks = 1; }).kind,
        Kind::no_deadlock);
    EXPECT_EQ(
        circle().verdict_after([](Snapshot& later) { later.ranks[1].threads[0].state = 'R'; }).kind,
        Kind::no_deadlock);
    EXPECT_EQ(
        circle().verdict_after([](Snapshot& later) { later.ranks[1].waiting[0].version = 4; }).kind,
        Kind::none);
    EXPECT_EQ(circle().verdict_after([](Snapshot& later) { later.ranks[1].waiting.clear(); }).kind,
              Kind::none);
    EXPECT_EQ(circle().verdict_after([](Snapshot& later) { later.ranks.pop_back(); }).kind,
              Kind::none);
}

TEST(Verdict, is_none_if_not_all_ranks_are_seen) {
    Looks job = circle();
    job.now.whole = false;
    EXPECT_EQ(job.verdict().kind, Kind::none);
}

TEST(Verdict, counts_other_threads_where_they_may_call_mpi) {
    Looks job = circle();
    job.another_thread(0);
    EXPECT_EQ(job.verdict().kind, Kind::none) << "it has called MPI before, rightly or not";
    job.now.ranks[0].threads.back().attached = false;
    EXPECT_EQ(job.verdict().kind, Kind::deadlock) << "below MPI_THREAD_SERIALIZED none may";
    job.now.ranks[0].thread_level = 4096;
    EXPECT_EQ(job.verdict().kind, Kind::none);
    job.now.ranks[0].threads.back().of_library = true;
    EXPECT_EQ(job.verdict().kind, Kind::deadlock);
    EXPECT_EQ(
        job.verdict_after([](Snapshot& later) { later.ranks[0].threads.back().switches = 1; }).kind,
        Kind::none)
        << "the library works";
}

TEST(Verdict, counts_threads_for_which_the_board_had_no_room) {
    Looks job = circle();
    job.now.ranks[1].more_waiting = 1;
    EXPECT_EQ(job.verdict().kind, Kind::none);
}

TEST(Verdict, says_that_there_is_no_deadlock_where_a_rank_runs) {
    Looks job(3);
    job.receives(0, 1);
    job.receives(1, 2);
    job.runs(2);
    const Verdict verdict = job.verdict();
    EXPECT_EQ(verdict.kind, Kind::no_deadlock);
    EXPECT_EQ(verdict.sentences.front(), "no deadlock: rank 2 runs");
}

TEST(Verdict, is_none_where_a_rank_runs_and_another_waits_for_one_that_sleeps) {
    Looks job(4);
    job.receives(0, 1);
    job.receives(3, 2);
    job.runs(2);
    EXPECT_EQ(job.verdict().sentences.front(),
              "no verdict: rank 2 runs, and others may wait for it");
    job.now.ranks[0].waiting.clear();
    EXPECT_EQ(job.verdict().sentences.front(), "no deadlock: rank 2 runs");
}

TEST(Verdict, says_that_there_is_no_deadlock_where_a_rank_has_tested) {
    Looks job(2);
    job.receives(0, 1);
    const auto tests = [](Snapshot& later) { ++later.ranks[1].threads[0].tests; };
    EXPECT_EQ(job.verdict().kind, Kind::none);
    EXPECT_EQ(job.verdict_after(tests).kind, Kind::no_deadlock);
}

TEST(Verdict, is_none_where_a_rank_runs_and_others_are_in_calls_of_many_ranks) {
    Looks job(3);
    job.collective(0, "MPI_Allreduce", 2, 2);
    job.receives(1, 2);
    job.runs(2);
    EXPECT_EQ(job.verdict().kind, Kind::none);
    EXPECT_EQ(job.verdict().sentences.front(),
              "no verdict: rank 2 runs, and others may wait for it");
}

TEST(Verdict, finds_ranks_that_wait_for_ever_beside_one_that_runs) {
    Looks job(3);
    job.receives(0, 1);
    job.receives(1, 0);
    job.runs(2);
    const Verdict verdict = job.verdict();
    EXPECT_EQ(verdict.kind, Kind::deadlock);
    EXPECT_EQ(verdict.ranks, (std::vector<int>{0, 1}));
}

TEST(Verdict, of_any_source_needs_all_ranks_to_be_stuck) {
    Looks job(3);
    for (int rank = 0; rank < 3; ++rank) job.receives_from_any(rank);
    EXPECT_EQ(job.verdict().kind, Kind::deadlock);
    job.now.ranks[2].waiting.clear();
    job.runs(2);
    EXPECT_EQ(job.verdict().kind, Kind::no_deadlock);
}

TEST(Verdict, of_events_that_are_not_listed_is_none_where_one_suffices) {
    Looks job(2);
    job.receives(1, 0);
    for (int i = 0; i < 9; ++i) job.receives(0, 1);
    EXPECT_EQ(job.verdict().kind, Kind::deadlock);
    job.now.ranks[0].waiting[0].what.need = node::Need::any;
    EXPECT_EQ(job.verdict().kind, Kind::none);
}

TEST(Verdict, of_what_is_not_known_is_none) {
    Looks job(2);
    job.receives(1, 0);
    job.waits(0, "MPI_File_write_all", node::AwaitedKind::file, node::no_peer);
    EXPECT_EQ(job.verdict().kind, Kind::none);
    Looks other(2);
    other.receives(1, 0);
    other.receives(0, 5);  // of another job
    EXPECT_EQ(other.verdict().kind, Kind::none);
    Looks silent(1);
    silent.receives(0, 0);
    silent.now.ranks[0].waiting[0].what.events = 0;
    EXPECT_EQ(silent.verdict().kind, Kind::none);
}

TEST(Verdict, names_the_rank_that_has_ended) {
    Looks job(2);
    job.receives(0, 1);
    job.now.ranks[1].end = "ended with exit code 0";
    const Verdict verdict = job.verdict();
    EXPECT_EQ(verdict.kind, Kind::ended);
    EXPECT_EQ(verdict.sentences.front(), "rank 0 waits for rank 1, which ended with exit code 0");
}

TEST(Verdict, names_calls_that_do_not_match) {
    Looks job(3);
    job.collective(0, "MPI_Barrier", 3, 1);
    job.collective(1, "MPI_Allreduce", 3, 0);
    job.collective(2, "MPI_Barrier", 3, 1);
    const Verdict verdict = job.verdict();
    EXPECT_EQ(verdict.kind, Kind::mismatch);
    EXPECT_EQ(verdict.sentences.front(),
              "collective mismatch: call #3 on MPI_COMM_WORLD is MPI_Allreduce on rank 1, but "
              "MPI_Barrier on ranks 0, 2");
}

TEST(Verdict, takes_calls_of_other_numbers_and_of_large_counts_for_no_mismatch) {
    Looks job(2);
    job.collective(0, "MPI_Bcast", 3, 1);
    job.collective(1, "MPI_Bcast_c", 3, 0);
    EXPECT_EQ(job.verdict().kind, Kind::deadlock);
    Looks later(2);
    later.collective(0, "MPI_Bcast", 3, 1);
    later.collective(1, "MPI_Reduce", 4, 0);
    EXPECT_EQ(later.verdict().kind, Kind::deadlock);
    Looks unnumbered(2);
    unnumbered.collective(0, "MPI_Comm_dup", 0, 1);
    unnumbered.collective(1, "MPI_Comm_split", 0, 0);
    EXPECT_EQ(unnumbered.verdict().kind, Kind::deadlock);
}

TEST(Verdict, of_a_partitioned_send_counts_the_threads_of_its_own_rank) {
    Looks job(2);
    job.receives(1, 0);
    job.waits(0, "MPI_Wait", node::AwaitedKind::partitioned, 1);
    EXPECT_EQ(job.verdict().kind, Kind::deadlock);
    job.now.ranks[0].thread_level = 4096;
    job.another_thread(0);
    EXPECT_EQ(job.verdict().kind, Kind::none);
}

// --- reports ---

std::vector<std::string> texts(const std::vector<Line>& lines) {
    std::vector<std::string> result;
    for (const Line& line : lines) result.push_back(line.text);
    return result;
}

TEST(HangReport, tells_ranks_that_do_the_same_at_once_and_the_odd_one_first) {
    Looks job(8);
    for (int rank = 0; rank < 8; ++rank) {
        if (rank == 5) continue;
        job.collective(rank, "MPI_Allreduce", 17, rank == 0 ? 1 : 0);
        node::AwaitedEvent& event =
            job.now.ranks[static_cast<std::size_t>(rank)].waiting[0].what.listed[0];
        event.context = 10;
        node::put_text(event.communicator, "halo");
    }
    job.collective(5, "MPI_Barrier", 3, 0);
    job.now.ranks[5].waiting[0].location = "a.c:7";
    const std::vector<Line> lines = report(job.now, nullptr);
    EXPECT_EQ(
        texts(lines),
        (std::vector<std::string>{
            "rank 5 (pid 105): blocked for 3.0 s in MPI_Barrier #3 on MPI_COMM_WORLD at a.c:7",
            "ranks 0-4, 6, 7: blocked for 3.0 s in MPI_Allreduce #17 on 'halo' (communicator 5)"}));
    EXPECT_TRUE(lines[0].odd);
    EXPECT_FALSE(lines[1].odd);
}

TEST(HangReport, lists_the_peers_in_which_ranks_differ) {
    Looks job(4);
    for (int rank = 0; rank < 4; ++rank) job.receives(rank, (rank + 3) % 4);
    EXPECT_EQ(
        texts(report(job.now, nullptr)),
        (std::vector<std::string>{
            "ranks 0-3: blocked for 3.0 s in MPI_Recv(source 3, 0, 1, 2, tag 7, MPI_COMM_WORLD)"}));
}

TEST(HangReport, tells_threads_that_do_the_same_at_once) {
    Looks job(2);
    for (int rank = 0; rank < 2; ++rank) {
        job.receives(rank, 1 - rank);
        Rank& at = job.now.ranks[static_cast<std::size_t>(rank)];
        for (int thread = 1; thread < 4; ++thread) {
            const auto number = static_cast<std::uint16_t>(thread);
            job.another_thread(rank);
            Waiting& other = at.waiting.emplace_back(at.waiting.front());
            other.what.thread = number;
            if (thread > 1) put_text(other.what.call, "MPI_Probe");
        }
        at.more_waiting = 5;
    }
    EXPECT_EQ(
        texts(report(job.now, nullptr)),
        (std::vector<std::string>{
            "ranks 0, 1: 5 more threads wait in MPI",
            "ranks 0, 1, threads 2, 3: blocked for 3.0 s in MPI_Probe(source 1, 1, 0, 0, tag 7, "
            "MPI_COMM_WORLD)",
            "ranks 0, 1, threads 0, 1: blocked for 3.0 s in MPI_Recv(source 1, 1, 0, 0, tag 7, "
            "MPI_COMM_WORLD)"}));
}

TEST(HangReport, tells_who_waits_for_a_mutex_or_the_end_of_a_thread) {
    Looks job(2);
    job.receives(0, 1);
    job.receives(1, 0);
    job.another_thread(0).wait = {ProgramWait::Kind::own_process, 100};
    job.another_thread(1).wait = {ProgramWait::Kind::end_of_thread, 101};
    EXPECT_EQ(texts(report(job.now, nullptr))[0],
              "rank 0 (pid 100): a thread waits for a mutex that thread 0 holds");
    EXPECT_EQ(texts(report(job.now, nullptr))[1],
              "rank 1 (pid 101): a thread waits for the end of thread 0");
}

TEST(HangReport, tells_who_polls_runs_and_sleeps) {
    Looks job(3);
    Snapshot before = job.now;
    job.now.ranks[0].threads[0].tests = 5;
    job.now.ranks[0].threads[0].call = "MPI_Test";
    job.runs(1);
    EXPECT_EQ(texts(report(job.now, &before)),
              (std::vector<std::string>{"rank 0 (pid 100): polls with MPI_Test, in vain so far",
                                        "rank 1 (pid 101): running (not blocked in MPI)",
                                        "rank 2 (pid 102): sleeps (not blocked in MPI)"}));
}

TEST(HangReport, tells_what_polls_are_for_and_what_lies_near_by) {
    Looks job(3);
    for (const int rank : {0, 1}) {
        job.waits(rank, "MPI_Test", node::AwaitedKind::receive, 2);
        Rank& at = job.now.ranks[static_cast<std::size_t>(rank)];
        at.pollers = std::move(at.waiting);
        at.waiting.clear();
        at.pollers.front().location = "a.c:7";
    }
    Snapshot before = job.now;
    job.now.ranks[0].threads[0].tests = 2'140'000;
    job.now.ranks[0].unexpected.add(world, 2, 8);
    job.runs(1);
    EXPECT_EQ(
        texts(report(job.now, &before)),
        (std::vector<std::string>{
            "rank 0 (pid 100): polls with MPI_Test(source 2, tag 7, MPI_COMM_WORLD) at a.c:7, "
            "in vain 2.1 million times so far",
            "rank 1 (pid 101): running (not blocked in MPI)",
            "rank 2 (pid 102): sleeps (not blocked in MPI)",
            "hint: rank 0: from rank 2 lies tag 8; tag 7 is awaited"}));
    job.now.ranks[1].threads[0].tests = 1'234;
    EXPECT_EQ(
        texts(report(job.now, &before))[1],
        "ranks 0, 1: polls with MPI_Test(source 2, tag 7, MPI_COMM_WORLD) at a.c:7, in vain so "
        "far");
}

TEST(HangReport, in_json_escapes_what_must_be) {
    EXPECT_EQ(json_string("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
    Looks job(1);
    job.receives(0, 0);
    EXPECT_NE(report_in_json(job.now, "null").find("\"call\":\"MPI_Recv\""), std::string::npos);
}

}  // namespace
}  // namespace heddle::hangs

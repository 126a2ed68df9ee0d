// SPDX-License-Identifier: BSD-3-Clause
#include "watch.hpp"

#include <unistd.h>

#include <algorithm>

namespace heddle::activity {
namespace {

const hangs::Thread* thread_of(const hangs::Rank& rank, std::uint32_t number) {
    for (const hangs::Thread& thread : rank.threads)
        if (thread.thread == number) return &thread;
    return nullptr;
}

}  // namespace

Watch::Watch(Look look_at_ranks)
    : look_at_ranks_(std::move(look_at_ranks)), before_(look_at_ranks_()), begin_(Clock::now()) {
    note_traffic();
}

bool Watch::of_living() const {
    return std::any_of(before_.ranks.begin(), before_.ranks.end(),
                       [](const hangs::Rank& rank) { return rank.pid != 0 && !rank.end; });
}

template <class What>
void Watch::for_threads(What what) const {
    for (const hangs::Rank& rank : before_.ranks)
        for (const hangs::Thread& thread : rank.threads)
            if (thread.attached) what(rank.pid, thread);
}

void Watch::look() {
    for_threads([this](pid_t pid, const hangs::Thread& thread) {
        samplers_[{pid, thread.thread}].look(pid, thread);
    });
}

void Watch::look_again() {
    for_threads([this](pid_t pid, const hangs::Thread& thread) {
        samplers_[{pid, thread.thread}].look_again(pid, thread);
    });
}

Traced* Watch::traced(pid_t pid) {
    const auto known = traced_.find(pid);
    if (known != traced_.end()) return known->second.get();
    return (traced_[pid] = Traced::open(pid)).get();
}

/// Sets the mark from which traffic is counted.
void Watch::note_traffic() {
    for (const hangs::Rank& rank : before_.ranks)
        if (Traced* const events = rank.pid == 0 ? nullptr : traced(rank.pid))
            for (const hangs::Thread& thread : rank.threads) (void)events->traffic(thread.thread);
}

std::vector<Row> Watch::rows() {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    const hangs::Snapshot now = look_at_ranks_();
    std::vector<Row> rows;
    for (std::size_t i = 0; i < now.ranks.size(); ++i) {
        const hangs::Rank& rank = now.ranks[i];
        const std::size_t others = rows.size();
        for (const hangs::Thread& thread : rank.threads)
            if (thread.attached && !thread.of_library)
                rows.push_back(
                    row_of(rank, thread, thread_of(before_.ranks[i], thread.thread), seconds));
        if (rows.size() == others) rows.push_back(row_without_thread(rank));
    }
    return rows;
}

Row Watch::row_without_thread(const hangs::Rank& rank) {
    Row row;
    row.rank = rank.rank;
    row.pid = rank.pid;
    row.host = rank.host;
    row.memory = rank.pid == 0 || rank.end ? 0 : resident_bytes(rank.pid);
    row.end = rank.end ? *rank.end : rank.pid == 0 ? "not started" : "not in MPI yet";
    return row;
}

Row Watch::row_of(const hangs::Rank& rank, const hangs::Thread& thread, const hangs::Thread* before,
                  double seconds) {
    Row row;
    row.rank = rank.rank;
    row.pid = rank.pid;
    row.host = rank.host;
    row.thread = thread.thread;
    row.state = thread.state;
    row.memory = resident_bytes(rank.pid);
    row.call = thread.call;
    if (before != nullptr)
        row.processor = static_cast<double>(thread.ticks - before->ticks) /
            static_cast<double>(::sysconf(_SC_CLK_TCK)) / seconds;
    const auto sampler = samplers_.find({rank.pid, thread.thread});
    if (sampler != samplers_.end()) row.in_mpi = sampler->second.share();
    if (Traced* const events = traced(rank.pid)) row.traffic = events->traffic(thread.thread);
    if (row.traffic) {
        row.in_mpi = row.traffic->in_mpi;
        row.waits_for = row.traffic->waits_for;
    }
    add_wait(row, rank, seconds);
    return row;
}

void Watch::add_wait(Row& row, const hangs::Rank& rank, double seconds) const {
    for (const hangs::Waiting& waiting : rank.waiting) {
        if (waiting.thread != row.thread) continue;
        row.call = waiting.what.call;
        row.seconds = waiting.seconds;
        if (!row.traffic && waiting.seconds >= seconds) row.in_mpi = 1;
        if (waiting.what.number_listed() > 0 && waiting.what.listed[0].world_peer >= 0)
            row.waits_for = waiting.what.listed[0].world_peer;
    }
}

}  // namespace heddle::activity

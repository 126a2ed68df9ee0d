// SPDX-License-Identifier: BSD-3-Clause
/// Answers the questions of heddle where and heddle top about a job on several hosts.

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "activity/row.hpp"
#include "far_ranks.hpp"
#include "hangs/jobs.hpp"
#include "hangs/packed.hpp"
#include "hosts.hpp"

namespace heddle::mpiexec {

namespace {

/// Sends the frame that ends an answer.
void send_told(Framed& link) {
    const frame::Told told{hangs::launcher_of(::getpid())};
    link.send(frame::told, std::string(bytes_of(told)) + own_host_name());
}

void send_ranks(Framed& link, char kind, const hangs::Snapshot& snapshot) {
    for (const hangs::Rank& rank : snapshot.ranks) link.send(kind, hangs::packed(rank));
}

}  // namespace

/// Takes a question of heddle. Closes the connection if it does not know the secret.
void FarRanks::take_question(Connection& connection, std::string_view bytes) {
    const auto asked = value_in<frame::Ask>(bytes);
    if (!asked || !knows_secret(asked->secret, asked->layout)) {
        connection.gone = true;
        return;
    }
    asked->watch_ms == 0 ? ask_where(connection) : ask_activity(connection, asked->watch_ms);
}

// ---- where the ranks are ----

void FarRanks::ask_where(Connection& connection) {
    connection.asks_where = true;
    if (question_) return;
    Question question;
    question.patience = for_answers;
    question.lines = for_lines;
    begin(std::move(question));
}

bool FarRanks::is_asked_by_heddle() const {
    return std::any_of(connections_.begin(), connections_.end(),
                       [](const Connection& one) { return one.asks_where && !one.gone; });
}

void FarRanks::send_where() {
    for (Connection& connection : connections_) {
        if (!std::exchange(connection.asks_where, false) || connection.gone) continue;
        send_ranks(*connection.link, frame::before, question_->before);
        send_ranks(*connection.link, frame::now, question_->now);
        send_told(*connection.link);
    }
}

// ---- what their threads do ----

void FarRanks::ask_activity(Connection& connection, std::uint32_t for_ms) {
    const frame::Watch watch{++watch_round_, std::min(for_ms, longest_watch_ms)};
    watched_.push_back({&connection, watch.round, now_ms() + watch.for_ms + for_answers.count(),
                        std::vector<std::string>(ranks_.size())});
    for (const Rank& rank : ranks_)
        if (rank.link != nullptr && !rank.end) rank.link->send(frame::watch, bytes_of(watch));
}

void FarRanks::take_activity(int rank, std::string_view bytes) {
    const auto round = value_in<std::uint32_t>(bytes);
    if (!round) return;
    for (Watched& one : watched_)
        if (one.round == *round)
            one.rows[static_cast<std::size_t>(rank)] = bytes.substr(sizeof *round);
}

bool FarRanks::answered(const Watched& watched) const {
    for (std::size_t i = 0; i < ranks_.size(); ++i)
        if (watched.rows[i].empty() && ranks_[i].link != nullptr && !ranks_[i].end) return false;
    return true;
}

void FarRanks::look_at_watched(long long now) {
    watched_.remove_if([&](const Watched& one) {
        const bool over = answered(one) || now >= one.until;
        if (over) send_activity(one);
        return over;
    });
}

std::string FarRanks::rows_of_silent(std::size_t rank) const {
    activity::Row row;
    row.rank = static_cast<int>(rank);
    row.end = "not heard of";
    if (const std::optional<hangs::Rank>& end = ranks_[rank].end) {
        row.pid = end->pid;
        row.host = end->host;
        row.end = end->end.value_or("ended");
    }
    return activity::packed({row});
}

void FarRanks::send_activity(const Watched& watched) const {
    for (std::size_t i = 0; i < ranks_.size(); ++i)
        watched.asker->link->send(frame::rows,
                                  watched.rows[i].empty() ? rows_of_silent(i) : watched.rows[i]);
    send_told(*watched.asker->link);
}

}  // namespace heddle::mpiexec

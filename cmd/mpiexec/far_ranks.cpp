// SPDX-License-Identifier: BSD-3-Clause
#include "far_ranks.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "hangs/packed.hpp"
#include "report.hpp"
#include "say.hpp"

namespace heddle::mpiexec {

namespace {

/// Fills in the lines of the program for waits that have not changed. Does so, too, for threads
/// that still test at the same line.
void add_lines(hangs::Rank& rank, const hangs::Rank& later) {
    for (hangs::Waiting& waiting : rank.waiting)
        for (const hangs::Waiting& other : later.waiting)
            if (other.thread == waiting.thread && other.version == waiting.version)
                waiting.location = other.location;
    for (hangs::Waiting& poller : rank.pollers)
        for (const hangs::Waiting& other : later.pollers)
            if (other.thread == poller.thread && other.what.called_from == poller.what.called_from)
                poller.location = other.location;
}

}  // namespace

FarRanks::FarRanks(EventLoop& loop, const Job& job, DeadlockWatch::Reaction reaction,
                   std::function<void(bool ends_job)> on_verdict)
    : loop_(loop),
      socket_(job.report_socket),
      address_(report_address_of(job.report_address)),
      reaction_(reaction),
      on_verdict_(std::move(on_verdict)),
      ranks_(static_cast<std::size_t>(job.ranks_elsewhere)) {
    listen();
}

// ---- connections ----

void FarRanks::listen() {
    deaf_until_ = -1;
    loop_.watch(socket_.get(), POLLIN, [this] { accept(); });
}

/// Leaves connections in the socket's queue for a while. Descriptors may be there again then.
void FarRanks::be_deaf() {
    deaf_until_ = now_ms() + deaf_ms;
    loop_.unwatch(socket_.get());
}

void FarRanks::accept() {
    UniqueFd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) be_deaf();
        return;
    }
    const int on = 1;
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    Connection& connection = connections_.emplace_back();
    connection.link = std::make_unique<Framed>(
        loop_, std::move(socket),
        [this, &connection](char kind, std::string_view bytes) { hear(connection, kind, bytes); },
        [this, &connection] { lose(connection); });
}

void FarRanks::lose(Connection& connection) {
    connection.gone = true;
    if (connection.rank >= 0) ranks_[static_cast<std::size_t>(connection.rank)].link = nullptr;
}

void FarRanks::hear(Connection& connection, char kind, std::string_view bytes) {
    if (connection.rank < 0) {
        if (kind == frame::hello) introduce(connection, bytes);
        if (kind == frame::ask) take_question(connection, bytes);
        return;
    }
    Rank& rank = ranks_[static_cast<std::size_t>(connection.rank)];
    switch (kind) {
        case frame::waits: rank.waits = value_in<std::uint64_t>(bytes).value_or(0); return;
        case frame::answer: return take_answer(rank, bytes);
        case frame::activity: return take_activity(connection.rank, bytes);
        case frame::ended: rank.end = hangs::unpacked(bytes); return;
        default: return;
    }
}

bool FarRanks::knows_secret(const transport::JobToken& secret, std::uint64_t layout) const {
    return address_ && secret == address_->secret && layout == hangs::packed_layout;
}

/// Handles a keeper's hello. Closes the connection if it does not know the secret.
void FarRanks::introduce(Connection& connection, std::string_view bytes) {
    const auto hello = value_in<frame::Hello>(bytes);
    if (!hello || !knows_secret(hello->secret, hello->layout) || hello->rank < 0 ||
        static_cast<std::size_t>(hello->rank) >= ranks_.size() ||
        ranks_[static_cast<std::size_t>(hello->rank)].link != nullptr) {
        connection.gone = true;
        return;
    }
    connection.rank = hello->rank;
    ranks_[static_cast<std::size_t>(connection.rank)].link = connection.link.get();
}

void FarRanks::take_answer(Rank& rank, std::string_view bytes) {
    const auto round = value_in<std::uint32_t>(bytes);
    if (!round || *round != round_) return;
    rank.answer = hangs::unpacked(bytes.substr(sizeof *round));
}

bool FarRanks::any_connected() const {
    return std::any_of(ranks_.begin(), ranks_.end(),
                       [](const Rank& rank) { return rank.link != nullptr; });
}

bool FarRanks::all_connected() const {
    return std::all_of(ranks_.begin(), ranks_.end(),
                       [](const Rank& rank) { return rank.link != nullptr || rank.end; });
}

// ---- watching ----

std::uint64_t FarRanks::fingerprint() const {
    std::uint64_t all = 1;
    for (const Rank& rank : ranks_) {
        if (rank.end) continue;
        if (rank.link == nullptr || rank.waits == 0) return 0;
        all = all * 1'000'003 + rank.waits;
    }
    return any_connected() ? all : 0;
}

void FarRanks::watch(long long now) {
    if (told_ || reaction_ == DeadlockWatch::Reaction::off) return;
    const std::uint64_t before = std::exchange(last_, fingerprint());
    if (last_ != before) {
        pause_ = usual_ms;
        judge_at_ = last_ == 0 ? -1 : now + soon_ms;
    }
    if (judge_at_ < 0 || now < judge_at_) return;
    judge_at_ = now + pause_;
    pause_ = std::min(2 * pause_, most_ms);
    Question question;
    question.patience = for_answers;
    question.lines = for_lines;
    question.watches = true;
    begin(std::move(question));
}

long long FarRanks::due() const {
    long long least = !question_                           ? judge_at_
        : question_->stage != Stage::between && answered() ? 0
                                                           : question_->until;
    for (const Watched& one : watched_) {
        const long long next = answered(one) ? 0 : one.until;
        least = least < 0 ? next : std::min(least, next);
    }
    if (deaf_until_ >= 0) least = least < 0 ? deaf_until_ : std::min(least, deaf_until_);
    return least;
}

void FarRanks::look(long long now) {
    if (deaf_until_ >= 0 && now >= deaf_until_) listen();
    watched_.remove_if([](const Watched& one) { return one.asker->gone; });
    connections_.remove_if([](const Connection& connection) { return connection.gone; });
    look_at_watched(now);
    if (!question_) return watch(now);
    const bool over = question_->stage == Stage::between ? now >= question_->until
                                                         : answered() || now >= question_->until;
    if (over) go_on(now);
}

// ---- asking ----

void FarRanks::tell(std::function<void()> then, double least_wait,
                    std::chrono::milliseconds within) {
    if (!question_) {
        Question question;
        question.least_wait = least_wait;
        question.patience = question.lines = within / 3;
        question.asked = true;
        begin(std::move(question));
    }
    question_->least_wait =
        question_->asked ? std::min(question_->least_wait, least_wait) : least_wait;
    question_->asked = true;
    question_->then.push_back(std::move(then));
}

void FarRanks::begin(Question question) {
    question_ = std::move(question);
    ask(Stage::first);
}

void FarRanks::ask(Stage stage) {
    question_->stage = stage;
    frame::Look look{};
    look.round = ++round_;
    if (stage == Stage::lines)
        look.for_lines_ms = static_cast<std::uint32_t>(question_->lines.count());
    question_->until = now_ms() + question_->patience.count() + look.for_lines_ms;
    for (Rank& rank : ranks_) {
        rank.answer.reset();
        if (rank.link != nullptr && !rank.end)
            rank.link->send(frame::look, {reinterpret_cast<const char*>(&look), sizeof look});
    }
}

bool FarRanks::answered() const {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) {
        return rank.link == nullptr || rank.end || rank.answer;
    });
}

hangs::Snapshot FarRanks::snapshot() const {
    hangs::Snapshot snapshot;
    snapshot.several_hosts = true;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        const Rank& known = ranks_[i];
        hangs::Rank& rank = snapshot.ranks.emplace_back(
            known.end ? *known.end : known.answer.value_or(hangs::Rank{}));
        rank.is_heard_of = known.end || known.answer;
        rank.rank = static_cast<int>(i);
    }
    return snapshot;
}

void FarRanks::go_on(long long now) {
    switch (question_->stage) {
        case Stage::first:
            question_->before = snapshot();
            question_->stage = Stage::between;
            question_->until = now + soon_ms;
            return;
        case Stage::between: return ask(Stage::second);
        case Stage::second: question_->now = snapshot(); return judge();
        case Stage::lines: return tell_all();
    }
}

/// Returns true if the user of mpiexec is to see the verdict.
bool FarRanks::is_to_be_said(const hangs::Verdict& verdict) const {
    if (question_->asked)
        return any_connected() && hangs::longest_wait(question_->now) >= question_->least_wait;
    return question_->watches && verdict.is_proven_stuck();
}

/// Returns true if a thread has moved between the looks, at which all ranks answered. It may rest
/// at the next look.
bool FarRanks::is_worth_another_look(const hangs::Verdict& verdict) {
    const bool is_none =
        verdict.kind == hangs::Verdict::Kind::none && (question_->asked || is_asked_by_heddle());
    const bool is_partial =
        question_->watches && verdict.is_proven_stuck() && !verdict.is_of_all(question_->now);
    if (!is_none && !is_partial) return false;
    const auto& ranks = question_->now.ranks;
    return std::all_of(ranks.begin(), ranks.end(),
                       [](const hangs::Rank& rank) { return rank.is_heard_of; }) &&
        question_->more_looks-- > 0;
}

void FarRanks::judge() {
    const hangs::Verdict verdict = hangs::judge(question_->before, question_->now);
    if (is_worth_another_look(verdict)) {
        question_->before = std::move(question_->now);
        question_->stage = Stage::between;
        question_->until = now_ms() + soon_ms;
        return;
    }
    is_to_be_said(verdict) || is_asked_by_heddle() ? ask(Stage::lines) : end_question();
}

void FarRanks::tell_all() {
    for (std::size_t i = 0; i < ranks_.size(); ++i)
        if (ranks_[i].answer) add_lines(question_->now.ranks[i], *ranks_[i].answer);
    send_where();
    const hangs::Verdict verdict = hangs::judge(question_->before, question_->now);
    is_to_be_said(verdict) ? say_all(verdict) : end_question();
}

void FarRanks::say_all(const hangs::Verdict& verdict) {
    say_report(question_->now, &question_->before);
    if (hangs::longest_wait(question_->now) > 0) say_verdict(verdict);
    const bool is_first = !told_ && verdict.is_proven_stuck() && fingerprint() != 0 &&
        reaction_ != DeadlockWatch::Reaction::off;
    end_question();
    if (!is_first) return;
    told_ = true;
    judge_at_ = -1;
    on_verdict_(reaction_ == DeadlockWatch::Reaction::abort ||
                verdict.kind == hangs::Verdict::Kind::ended);
}

void FarRanks::end_question() {
    const std::vector<std::function<void()>> then = std::move(question_->then);
    question_.reset();
    for (const auto& one : then) one();
}

}  // namespace heddle::mpiexec

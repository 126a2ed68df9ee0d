// SPDX-License-Identifier: BSD-3-Clause
#include "far_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>
#include <utility>

#include "hangs/packed.hpp"
#include "mpiexec/frames.hpp"

namespace heddle::cmd {

using std::chrono::milliseconds;
namespace frame = mpiexec::frame;

namespace {
constexpr milliseconds to_connect{1000};
}

FarQuestion::FarQuestion(const std::string& reports_to, std::uint32_t watch_ms)
    : address_(mpiexec::report_address_of(reports_to)), watch_ms_(watch_ms) {
    if (!address_) return;
    connecting_ = std::make_unique<mpiexec::Connecting>(
        loop_, *address_, [this](mpiexec::UniqueFd socket) { connected(std::move(socket)); });
    wait(to_connect, [this] { return link_ != nullptr || connecting_->is_over(); });
}

void FarQuestion::connected(mpiexec::UniqueFd socket) {
    link_ = std::make_unique<mpiexec::Framed>(
        loop_, std::move(socket), [this](char kind, std::string_view bytes) { hear(kind, bytes); },
        [] {});
    frame::Ask ask{};
    ask.secret = address_->secret;
    ask.layout = hangs::packed_layout;
    ask.watch_ms = watch_ms_;
    link_->send(frame::ask, mpiexec::bytes_of(ask));
}

void FarQuestion::hear(char kind, std::string_view bytes) {
    if (kind == frame::before) return take_rank(answer_.before, bytes);
    if (kind == frame::now) return take_rank(answer_.now, bytes);
    if (kind == frame::rows) {
        std::vector<activity::Row> rows =
            activity::unpacked(bytes).value_or(std::vector<activity::Row>{});
        std::move(rows.begin(), rows.end(), std::back_inserter(answer_.rows));
    }
    const auto told = kind == frame::told ? mpiexec::value_in<frame::Told>(bytes) : std::nullopt;
    if (!told) return;
    answer_.launcher = told->process;
    answer_.host = bytes.substr(sizeof *told);
    complete_ = true;
}

void FarQuestion::take_rank(hangs::Snapshot& snapshot, std::string_view bytes) {
    snapshot.several_hosts = true;
    if (std::optional<hangs::Rank> rank = hangs::unpacked(bytes))
        snapshot.ranks.push_back(std::move(*rank));
}

template <class Condition>
void FarQuestion::wait(milliseconds within, Condition until) {
    const long long end = mpiexec::now_ms() + within.count();
    while (!until()) {
        const long long left = end - mpiexec::now_ms();
        if (left <= 0) return;
        loop_.wait(static_cast<int>(left));
    }
}

std::optional<FarAnswer> FarQuestion::answer(milliseconds within) {
    wait(within, [this] { return complete_ || link_ == nullptr || !link_->is_open(); });
    if (!complete_) return {};
    return std::move(answer_);
}

std::size_t number_of_hosts(const std::vector<std::string>& of_ranks) {
    return std::set<std::string>(of_ranks.begin(), of_ranks.end()).size();
}

std::string title_of(const FarAnswer& answer, std::size_t ranks, std::size_t hosts) {
    return fmt::format("{} rank{} on {} host{}, mpiexec {} on {}", ranks, ranks == 1 ? "" : "s",
                       hosts, hosts == 1 ? "" : "s", answer.launcher, answer.host);
}

void warn_of_silence(const char* command) {
    std::fprintf(stderr,
                 "heddle %s: mpiexec of a job on several hosts does not answer: only the ranks on "
                 "this machine are shown\n",
                 command);
}

}  // namespace heddle::cmd

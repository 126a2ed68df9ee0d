// SPDX-License-Identifier: BSD-3-Clause
#include "root_link.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "deadlock_watch.hpp"
#include "hangs/call_sites.hpp"
#include "hangs/packed.hpp"
#include "hosts.hpp"

namespace heddle::mpiexec {

namespace {

constexpr long long between_looks_ms = 200;

}  // namespace

std::unique_ptr<RootLink> RootLink::of_environment(EventLoop& loop, const Kept& kept) {
    const char* text = std::getenv(report_variable);
    if (text == nullptr) return nullptr;
    const auto address = report_address_of(text);
    ::unsetenv(report_variable);
    return address ? std::make_unique<RootLink>(loop, kept, *address) : nullptr;
}

RootLink::RootLink(EventLoop& loop, const Kept& kept, ReportAddress address)
    : loop_(loop),
      kept_(kept),
      address_(std::move(address)),
      connecting_(loop, address_, [this](UniqueFd socket) { connected(std::move(socket)); }) {}

void RootLink::connected(UniqueFd socket) {
    link_ = std::make_unique<Framed>(
        loop_, std::move(socket), [this](char kind, std::string_view bytes) { hear(kind, bytes); },
        [] {});
    frame::Hello hello{};
    hello.secret = address_.secret;
    hello.layout = hangs::packed_layout;
    hello.rank = kept_.job.first_rank;
    link_->send(frame::hello, bytes_of(hello));
    due_ = now_ms();
}

void RootLink::hear(char kind, std::string_view bytes) {
    if (kind == frame::look)
        if (const auto look = value_in<frame::Look>(bytes)) return answer(*look);
    if (kind == frame::watch)
        if (const auto asked = value_in<frame::Watch>(bytes)) begin_to_watch(*asked);
}

long long RootLink::due() const {
    if (!is_up()) return -1;
    long long least = due_;
    for (const Watched& one : watched_) least = std::min(least, one.next);
    return least;
}

void RootLink::look(long long now) {
    if (!is_up()) return;
    sample(now);
    if (now < due_) return;
    due_ = now + between_looks_ms;
    tell_waits();
}

void RootLink::tell_waits() {
    const std::uint64_t waits = fingerprint_of_waits(kept_);
    if (waits == told_) return;
    told_ = waits;
    link_->send(frame::waits, bytes_of(waits));
}

hangs::Snapshot RootLink::look_at_rank() const {
    hangs::Snapshot snapshot = look_at_ranks(kept_);
    snapshot.ranks.front().host = snapshot.host;
    return snapshot;
}

void RootLink::answer(const frame::Look& look) {
    hangs::Snapshot snapshot = look_at_rank();
    if (look.for_lines_ms != 0)
        hangs::CallSites(snapshot).resolve(snapshot, std::chrono::milliseconds(look.for_lines_ms));
    link_->send(frame::answer,
                std::string(bytes_of(look.round)) + hangs::packed(snapshot.ranks.front()));
}

void RootLink::rank_ended() {
    if (is_up()) link_->send(frame::ended, hangs::packed(look_at_rank().ranks.front()));
}

// ---- what threads do ----

void RootLink::begin_to_watch(const frame::Watch& asked) {
    const long long now = now_ms();
    watched_.push_back(
        {asked.round, now + asked.for_ms, now, activity::Watch([this] { return look_at_rank(); })});
}

void RootLink::sample(long long now) {
    for (auto one = watched_.begin(); one != watched_.end();) {
        if (now < one->next) {
            ++one;
            continue;
        }
        one->watch.look();
        std::this_thread::sleep_for(activity::between_looks);
        one->watch.look_again();
        one->next = std::min(now + activity::between_samples.count(), one->until);
        if (now < one->until) {
            ++one;
            continue;
        }
        link_->send(frame::activity,
                    std::string(bytes_of(one->round)) + activity::packed(one->watch.rows()));
        one = watched_.erase(one);
    }
}

}  // namespace heddle::mpiexec

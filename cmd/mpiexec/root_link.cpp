// SPDX-License-Identifier: BSD-3-Clause
#include "root_link.hpp"

#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "deadlock_watch.hpp"
#include "hangs/call_sites.hpp"
#include "hangs/packed.hpp"
#include "hosts.hpp"

namespace heddle::mpiexec {

namespace {

constexpr long long between_looks_ms = 200;

template <class T>
std::string_view bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

std::unique_ptr<RootLink> RootLink::of_environment(EventLoop& loop, const Kept& kept) {
    const char* text = std::getenv(report_variable);
    if (text == nullptr) return nullptr;
    const auto address = report_address_of(text);
    ::unsetenv(report_variable);
    return address ? std::make_unique<RootLink>(loop, kept, *address) : nullptr;
}

RootLink::RootLink(EventLoop& loop, const Kept& kept, ReportAddress address)
    : loop_(loop), kept_(kept), address_(std::move(address)) {
    for (const transport::sockets::Endpoint& endpoint : address_.internet) {
        UniqueFd socket = begin_to_connect(endpoint);
        if (!socket) continue;
        const std::size_t index = trying_.size();
        loop_.watch(socket.get(), POLLOUT, [this, index] { connected(index); });
        trying_.push_back(std::move(socket));
    }
}

/// Or has failed to.
void RootLink::connected(std::size_t index) {
    UniqueFd socket = std::move(trying_[index]);
    loop_.unwatch(socket.get());
    int error = 0;
    socklen_t bytes = sizeof error;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &bytes) != 0 || error != 0) return;
    for (UniqueFd& other : trying_) {
        if (other) loop_.unwatch(other.get());
        other.reset();
    }
    link_ = std::make_unique<Framed>(
        loop_, std::move(socket),
        [this](char kind, std::string_view asked) {
            frame::Look look{};
            if (kind != frame::look || asked.size() != sizeof look) return;
            std::memcpy(&look, asked.data(), sizeof look);
            answer(look);
        },
        [] {});
    frame::Hello hello{};
    hello.secret = address_.secret;
    hello.layout = hangs::packed_layout;
    hello.rank = kept_.job.first_rank;
    link_->send(frame::hello, bytes_of(hello));
    due_ = now_ms();
}

void RootLink::look(long long now) {
    if (!is_up() || now < due_) return;
    due_ = now + between_looks_ms;
    const std::uint64_t waits = fingerprint_of_waits(kept_);
    if (waits == told_) return;
    told_ = waits;
    link_->send(frame::waits, bytes_of(waits));
}

void RootLink::answer(const frame::Look& look) {
    hangs::Snapshot snapshot = look_at_ranks(kept_);
    if (look.for_lines_ms != 0)
        hangs::CallSites(snapshot).resolve(snapshot, std::chrono::milliseconds(look.for_lines_ms));
    hangs::Rank& rank = snapshot.ranks.front();
    rank.host = snapshot.host;
    link_->send(frame::answer, std::string(bytes_of(look.round)) + hangs::packed(rank));
}

void RootLink::rank_ended() {
    if (!is_up()) return;
    hangs::Snapshot snapshot = look_at_ranks(kept_);
    hangs::Rank& rank = snapshot.ranks.front();
    rank.host = snapshot.host;
    link_->send(frame::ended, hangs::packed(rank));
}

}  // namespace heddle::mpiexec

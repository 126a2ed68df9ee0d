// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Two processes of this machine measure a lane between them. Both run the same functions.

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "transport/transport.hpp"

namespace heddle::bench {

using namespace transport;

inline constexpr int round_trips = 20'000, messages = 1'000'000, transfers = 300, window = 64;
inline constexpr std::size_t large = std::size_t{1} << 20;
enum Kind : std::uint8_t { data = 1, expose };

struct Counter {
    std::size_t messages = 0;
    bool read = false;
    RemoteMemory remote{};

    bool arrived(Peer, Header& header) noexcept {
        if (header.kind == expose) std::memcpy(&remote, header.payload(), sizeof remote);
        ++messages;
        return true;
    }
    void read_over(std::uint64_t, bool) noexcept { read = true; }
    void left(transport::Peer) noexcept {}
    void stranger() noexcept {}
    void lost(Peer, std::string_view why) noexcept {
        std::fprintf(stderr, "lost: %.*s\n", static_cast<int>(why.size()), why.data());
        _exit(1);
    }
};

/// One of the two processes. Both run the same program, and process 0 measures.
template <class Lane>
struct Side {
    Lane& lane;
    Peer me;
    Counter heard;

    void send(std::uint8_t kind, Bytes payload) {
        Header header{};
        header.kind = kind;
        while (lane.post(1 - me, header, {}, payload) == Post::retry) lane.poll(heard);
    }
    void await(std::size_t count) {
        while (heard.messages < count) lane.poll(heard);
        heard.messages -= count;
    }
    /// Returns when both processes have come here.
    void meet() {
        send(data, {});
        await(1);
    }
};

template <class Lane>
void ping_pong(Side<Lane>& side) {
    const std::byte small[8] = {};
    for (int i = 0; i < round_trips; ++i) {
        if (side.me == 0) side.send(data, small);
        side.await(1);
        if (side.me == 1) side.send(data, small);
    }
}
template <class Lane>
void stream(Side<Lane>& side) {
    const std::byte small[8] = {};
    for (int i = 1; side.me == 0 && i <= messages; ++i) {
        side.send(data, small);
        if (i % window == 0) side.lane.poll(side.heard);
    }
    if (side.me == 1) side.await(messages);
    side.meet();
}
template <class Lane>
void pieces(Side<Lane>& side) {
    static const std::vector<std::byte> bytes(large);
    const std::size_t piece = side.lane.most_payload();
    const std::size_t count = (large + piece - 1) / piece;
    for (int i = 0; i < transfers; ++i) {
        for (std::size_t at = 0; side.me == 0 && at < large; at += piece)
            side.send(data, Bytes(bytes).subspan(at, std::min(piece, large - at)));
        if (side.me == 1) side.await(count);
    }
    side.meet();
}
template <class Lane>
void reads(Side<Lane>& side) {
    static std::vector<std::byte> bytes(large);
    if (side.me == 0) {
        const auto exposed = side.lane.expose(bytes);
        const RemoteMemory remote = exposed.remote();
        side.send(expose, std::as_bytes(std::span(&remote, 1)));
        return side.meet();  // when the other process has read everything
    }
    side.await(1);
    for (int i = 0; i < transfers; ++i) {
        side.heard.read = false;
        while (side.lane.read(0, side.heard.remote, bytes, 0) == Post::retry)
            side.lane.poll(side.heard);
        while (!side.heard.read) side.lane.poll(side.heard);
    }
    side.meet();
}

template <class Lane>
void measure(Side<Lane>& side, const char* what, void (*run)(Side<Lane>&), double per_second,
             double seconds_each) {
    side.meet();
    const auto begin = std::chrono::steady_clock::now();
    run(side);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    if (side.me != 0) return;
    if (seconds_each > 0)
        std::printf("%-28s %10.2f us\n", what, passed.count() / seconds_each * 1e6);
    else
        std::printf("%-28s %10.3f million/s\n", what, per_second / passed.count() * 1e-6);
    std::fflush(stdout);
}

/// Runs all measurements.
template <class Lane>
void measure_all(Lane& lane, Peer me) {
    Side<Lane> side{lane, me, {}};
    constexpr double moved = static_cast<double>(transfers) * large;
    measure(side, "half round trip, 8 bytes", ping_pong<Lane>, 0, 2.0 * round_trips);
    measure(side, "stream, messages of 8 bytes", stream<Lane>, messages, 0);
    measure(side, "1 MiB in pieces, bytes", pieces<Lane>, moved, 0);
    if (lane.can_read()) measure(side, "1 MiB read, bytes", reads<Lane>, moved, 0);
    while (!lane.drain()) lane.poll(side.heard);
}

/// Starts a child process, which is 1; the parent is 0. Each calls run(me, socket) to exchange
/// addresses.
template <class Run>
void in_two_processes(Run&& run) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        throw std::runtime_error("socketpair");
    const pid_t child = fork();
    if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(sockets[child == 0 ? 0 : 1]);
    run(child == 0 ? Peer{1} : Peer{0}, sockets[child == 0 ? 1 : 0]);
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    close(sockets[0]);
}

inline std::string exchange(int socket, const std::string& own) {
    char other[512];
    if (write(socket, own.data(), own.size()) < 0) throw std::runtime_error("write");
    const ssize_t length = read(socket, other, sizeof other);
    if (length <= 0) throw std::runtime_error("the other process has ended");
    return {other, static_cast<std::size_t>(length)};
}

}  // namespace heddle::bench

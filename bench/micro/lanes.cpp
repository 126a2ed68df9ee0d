// SPDX-License-Identifier: BSD-3-Clause
/// What a lane to another host makes of a network, without MPI: two processes of this machine, over libfabric.
///
///   micro_lanes [FABRIC [INTERFACE]]      default: auto, lo
///
/// Half a round trip of 8 bytes, a stream of messages of 8 bytes in windows of 64, 1 MiB in pieces, and, where the provider
/// does that, 1 MiB read by the receiver.

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "transport/business_card.hpp"
#include "transport/ofi/wire.hpp"

namespace {

using namespace heddle::transport;
using ofi::Lane;

constexpr int round_trips = 20'000, messages = 1'000'000, transfers = 300, window = 64;
constexpr std::size_t large = std::size_t{1} << 20;
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
    void stranger() noexcept {}
    void lost(Peer, std::string_view why) noexcept {
        std::fprintf(stderr, "lost: %.*s\n", static_cast<int>(why.size()), why.data());
        _exit(1);
    }
};

/// One of the two processes. Both run the same program; 0 measures.
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
    /// Both are here.
    void meet() {
        send(data, {});
        await(1);
    }
};

void ping_pong(Side& side) {
    const std::byte small[8] = {};
    for (int i = 0; i < round_trips; ++i) {
        if (side.me == 0) side.send(data, small);
        side.await(1);
        if (side.me == 1) side.send(data, small);
    }
}
void stream(Side& side) {
    const std::byte small[8] = {};
    for (int i = 1; side.me == 0 && i <= messages; ++i) {
        side.send(data, small);
        if (i % window == 0) side.lane.poll(side.heard);
    }
    if (side.me == 1) side.await(messages);
    side.meet();
}
void pieces(Side& side) {
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
void reads(Side& side) {
    static std::vector<std::byte> bytes(large);
    if (side.me == 0) {
        const auto exposed = side.lane.expose(bytes);
        const RemoteMemory remote = exposed.remote();
        side.send(expose, std::as_bytes(std::span(&remote, 1)));
        return side.meet();  // when the other has read everything
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

void measure(Side& side, const char* what, void (*run)(Side&), double per_second,
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

void run(Peer me, int socket, const ofi::Wanted& wanted) {
    const ofi::Choice choice = ofi::choose(wanted);
    Lane lane({me, 2, 1}, {}, choice, ofi::Sleeps::no);
    const BusinessCard own{choice.offer.provider, lane.address(), 1};
    const std::string bytes = to_bytes(own);
    char other[512];
    if (write(socket, bytes.data(), bytes.size()) < 0) throw std::runtime_error("write");
    const ssize_t length = read(socket, other, sizeof other);
    if (length <= 0) throw std::runtime_error("the other process has ended");
    lane.connect(1 - me, read_card({other, static_cast<std::size_t>(length)}, own).address);
    if (me == 0)
        std::printf("%s on %s\n", choice.offer.provider.c_str(), choice.offer.interface.c_str());
    Side side{lane, me, {}};
    constexpr double moved = static_cast<double>(transfers) * large;
    measure(side, "half round trip, 8 bytes", ping_pong, 0, 2.0 * round_trips);
    measure(side, "stream, messages of 8 bytes", stream, messages, 0);
    measure(side, "1 MiB in pieces, bytes", pieces, moved, 0);
    if (lane.can_read()) measure(side, "1 MiB read, bytes", reads, moved, 0);
    while (!lane.drain()) lane.poll(side.heard);
}

}  // namespace

int main(int argc, char** argv) try {
    const ofi::Wanted wanted{argc > 1 ? argv[1] : "auto", argc > 2 ? argv[2] : "lo"};
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        throw std::runtime_error("socketpair");
    const pid_t child = fork();
    if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(sockets[child == 0 ? 0 : 1]);
    run(child == 0 ? 1 : 0, sockets[child == 0 ? 1 : 0], wanted);
    if (child > 0) waitpid(child, nullptr, 0);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "micro_lanes: %s\n", error.what());
    return 1;
}

// SPDX-License-Identifier: BSD-3-Clause
/// Lanes over sockets: in the abstract namespace, and over TCP and the loopback interface.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "testing/transport_conformance.hpp"
#include "transport/sockets/wire.hpp"

namespace heddle::testing {
namespace {

using transport::sockets::Options;
using Lane = transport::sockets::Lane;

struct Beside {
    static Options options() {
        return {.same_machine = true, .other_hosts = false, .interface = {}, .reads = true};
    }
    static constexpr const char* place = "process ";
};
struct WithoutRings {
    static Options options() {
        return {.same_machine = true, .other_hosts = false, .interface = {}, .rings = false};
    }
    static constexpr const char* place = "process ";
};
struct OverTcp {
    static Options options() {
        return {.same_machine = false, .other_hosts = true, .interface = "lo"};
    }
    static constexpr const char* place = "127.0.0.1 port ";
};

template <class Way>
struct SocketsJob {
    using Lane = transport::sockets::Lane;
    static constexpr int most_lanes = 1000;
    static bool available() { return true; }

    std::unique_ptr<Lane> lane(transport::Identity identity, transport::Patience patience) {
        return std::make_unique<Lane>(identity, patience, Way::options());
    }
    /// Returns an address at which a lane has listened.
    std::string nowhere() { return lane(member(0, 1, 1), {})->address(); }
};

using Ways = ::testing::Types<SocketsJob<Beside>, SocketsJob<WithoutRings>, SocketsJob<OverTcp>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Sockets, TransportConformance, Ways);

// --- two processes ---

constexpr transport::JobToken token{77, 78};

std::string received(int socket) {
    char bytes[512];
    const ssize_t length = ::read(socket, bytes, sizeof bytes);
    return {bytes, static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

/// Another process with a lane, which echoes what comes until it is killed.
template <class Way>
class OtherProcess {
public:
    OtherProcess() {
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets_), 0);
        child_ = fork();
        if (child_ == 0) echo();
    }
    ~OtherProcess() {
        kill();
        ::close(sockets_[0]);
        ::close(sockets_[1]);
    }
    OtherProcess(const OtherProcess&) = delete;
    OtherProcess& operator=(const OtherProcess&) = delete;

    /// Returns its address, in exchange for that of this process.
    std::string meet(const std::string& own) {
        EXPECT_EQ(::write(sockets_[0], own.data(), own.size()), static_cast<ssize_t>(own.size()));
        return received(sockets_[0]);
    }
    void kill() {
        if (child_ <= 0) return;
        ::kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
        child_ = 0;
    }

private:
    [[noreturn]] void echo() {
        Lane lane({1, 2, token}, {}, Way::options());
        const std::string own = lane.address();
        if (::write(sockets_[1], own.data(), own.size()) < 0) _exit(1);
        lane.connect(0, received(sockets_[1]));
        lane.watch(0, true);
        for (Echo<Lane> consumer{lane};;) lane.poll(consumer);
    }

    int sockets_[2] = {-1, -1};
    pid_t child_ = 0;
};

template <class Way>
class SocketsOfTwoProcesses : public ::testing::Test {};
using AllWays = ::testing::Types<Beside, WithoutRings, OverTcp>;
TYPED_TEST_SUITE(SocketsOfTwoProcesses, AllWays);

TYPED_TEST(SocketsOfTwoProcesses, talk_and_the_death_of_one_is_told_with_its_place) {
    using namespace std::chrono_literals;
    OtherProcess<TypeParam> other;  // forks: there are no threads before
    Watchdog watchdog("two processes");
    Lane lane({0, 2, token}, {.before_call = 50ms}, TypeParam::options());
    lane.connect(1, other.meet(lane.address()));
    Collector heard;
    for (std::uint32_t sent = 0; heard.messages < 2000;) {
        if (sent < 2000 && post_numbered(lane, 1, sent, sent % 1000) == Post::done) ++sent;
        if (lane.poll(heard) > 0) watchdog.progress();
    }
    EXPECT_EQ(heard.wrong, 0U);
    EXPECT_TRUE(heard.gone.empty());
    // Nothing is under way when it dies: only a lane that watches finds out.
    lane.watch(1, true);
    other.kill();
    while (heard.gone.empty()) sleep_and_poll(lane, heard);
    EXPECT_EQ(heard.gone[1].find(TypeParam::place), 0U) << heard.gone[1];
    EXPECT_NE(heard.gone[1].find(std::strerror(ECONNRESET)), std::string::npos) << heard.gone[1];
}

TYPED_TEST(SocketsOfTwoProcesses, the_death_of_a_receiver_in_the_middle_of_a_stream_is_told) {
    OtherProcess<TypeParam> other;
    Watchdog watchdog("a stream to a process that is killed");
    Lane lane({0, 2, token}, {}, TypeParam::options());
    lane.connect(1, other.meet(lane.address()));
    Collector heard;
    std::uint32_t sent = 0;
    Post last = Post::done;
    while (last != Post::faulty) {
        last = post_numbered(lane, 1, sent, 60'000);
        if (last == Post::done && ++sent == 200) other.kill();
        lane.poll(heard);
        watchdog.progress();
    }
    while (heard.gone.empty()) lane.poll(heard);
    EXPECT_GE(sent, 200U);
}

}  // namespace
}  // namespace heddle::testing

// SPDX-License-Identifier: BSD-3-Clause
/// Lanes over libfabric and the loopback interface, with each of its providers for TCP that is
/// here.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>

#include "testing/transport_conformance.hpp"
#include "transport/business_card.hpp"
#include "transport/ofi/wire.hpp"

/// LeakSanitizer asks for this. Version 1.17's net keeps a little of each connection when its
/// endpoint is closed.
extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions() {
    return "leak:libfabric.so\n";
}

namespace heddle::testing {
namespace {

using transport::ofi::Choice;

struct Rxm {
    static constexpr const char* name = "tcp;ofi_rxm";
};
struct Net {
    static constexpr const char* name = "net";
};
struct Tcp {
    static constexpr const char* name = "tcp";
};

/// Returns the provider at the loopback interface, or nullptr if it is not here.
const Choice* choice_of(const std::string& provider) {
    static auto& all = *new std::map<std::string, std::unique_ptr<Choice>>;
    const auto [at, added] = all.try_emplace(provider);
    if (added) try {
            at->second = std::make_unique<Choice>(transport::ofi::choose({provider, "lo"}));
        } catch (const std::runtime_error&) {}
    return at->second.get();
}

template <class P, int most>
struct OfiJob {
    using Lane = transport::ofi::Lane;
    static constexpr int most_lanes = most;
    static bool available() { return choice_of(P::name) != nullptr; }

    std::unique_ptr<Lane> lane(transport::Identity identity, transport::Patience patience) {
        return std::make_unique<Lane>(identity, patience, *choice_of(P::name),
                                      transport::ofi::Sleeps::yes);
    }
    /// Returns a port of this machine that was free just now.
    std::string nowhere() {
        std::string address = lane(member(0, 1, 1), {})->address();
        return address;
    }
};

// --- two processes ---

constexpr transport::JobToken token{99, 100};

std::string received(int socket) {
    char bytes[512];
    const ssize_t length = ::read(socket, bytes, sizeof bytes);
    return {bytes, static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

/// Another process with a lane, which echoes what comes until it is killed.
template <class P>
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

    /// Returns its card, in exchange for that of this process.
    transport::BusinessCard meet(const transport::BusinessCard& own) {
        const std::string bytes = transport::to_bytes(own);
        EXPECT_EQ(::write(sockets_[0], bytes.data(), bytes.size()),
                  static_cast<ssize_t>(bytes.size()));
        return transport::read_card(received(sockets_[0]), own);
    }
    /// Stops it: it answers nothing from now on.
    void stop() {
        int status = 0;
        ::kill(child_, SIGSTOP);
        EXPECT_EQ(waitpid(child_, &status, WUNTRACED), child_);
    }
    void kill() {
        if (child_ <= 0) return;
        ::kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
        child_ = 0;
    }

private:
    [[noreturn]] void echo() {
        transport::ofi::Lane lane({1, 2, token}, {}, *choice_of(P::name),
                                  transport::ofi::Sleeps::no);
        const transport::BusinessCard own{P::name, lane.address(), token};
        const std::string bytes = transport::to_bytes(own);
        if (::write(sockets_[1], bytes.data(), bytes.size()) < 0) _exit(1);
        lane.connect(0, transport::read_card(received(sockets_[1]), own).address);
        lane.watch(0, true);
        for (Echo<transport::ofi::Lane> consumer{lane};;) lane.poll(consumer);
    }

    int sockets_[2] = {-1, -1};
    pid_t child_ = 0;
};

template <class P>
class TwoProcesses : public ::testing::Test {};
using All = ::testing::Types<Rxm, Net, Tcp>;
TYPED_TEST_SUITE(TwoProcesses, All);

TYPED_TEST(TwoProcesses, talk_and_the_death_of_one_is_told_with_its_place) {
    using namespace std::chrono_literals;
    if (choice_of(TypeParam::name) == nullptr) GTEST_SKIP() << "not on this machine";
    OtherProcess<TypeParam> other;  // forks: there are no threads before
    Watchdog watchdog("two processes");
    transport::ofi::Lane lane({0, 2, token}, {.before_call = 50ms}, *choice_of(TypeParam::name),
                              transport::ofi::Sleeps::yes);
    lane.connect(1, other.meet({TypeParam::name, lane.address(), token}).address);
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
    EXPECT_EQ(heard.gone[1].find("127.0.0.1 port "), 0U) << heard.gone[1];
    EXPECT_EQ(heard.gone[1].find("not answered"), std::string::npos) << heard.gone[1];
}

TYPED_TEST(TwoProcesses, the_death_of_one_that_owes_an_answer_is_told_too) {
    using namespace std::chrono_literals;
    if (choice_of(TypeParam::name) == nullptr) GTEST_SKIP() << "not on this machine";
    OtherProcess<TypeParam> other;
    transport::ofi::Lane lane({0, 2, token}, {.before_call = 50ms}, *choice_of(TypeParam::name),
                              transport::ofi::Sleeps::yes);
    lane.connect(1, other.meet({TypeParam::name, lane.address(), token}).address);
    lane.watch(1, true);
    Collector heard;
    while (post_numbered(lane, 1, 0, 8) == Post::retry) lane.poll(heard);
    while (heard.messages < 1) lane.poll(heard);
    other.stop();
    while (post_numbered(lane, 1, 1, 8) == Post::retry) lane.poll(heard);  // its answers to calls
    EXPECT_FALSE(lane.drain());
    while (lane.owes()) lane.poll(heard);
    other.kill();
    while (heard.gone.empty()) sleep_and_poll(lane, heard);
    EXPECT_EQ(heard.gone[1].find("not answered"), std::string::npos) << heard.gone[1];
}

using Providers = ::testing::Types<OfiJob<Rxm, 40>, OfiJob<Net, 1000>, OfiJob<Tcp, 1000>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Ofi, TransportConformance, Providers);

}  // namespace
}  // namespace heddle::testing

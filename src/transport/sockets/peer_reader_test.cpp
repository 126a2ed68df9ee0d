// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sockets/peer_reader.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace heddle::transport::sockets {
namespace {

constexpr Secret secret{11, 12}, other_secret{11, 13};

/// A child that has the memory from when it was forked, until this object is destroyed.
class Child {
public:
    Child() {
        EXPECT_EQ(pipe(go_on_), 0);
        process_ = fork();
        if (process_ != 0) return;
        char byte = 0;
        ::close(go_on_[1]);
        _exit(::read(go_on_[0], &byte, 1) == 0 ? 0 : 1);
    }
    ~Child() {
        ::close(go_on_[0]);
        ::close(go_on_[1]);
        waitpid(process_, nullptr, 0);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    int process() const noexcept { return process_; }

private:
    int go_on_[2];
    int process_ = 0;
};

struct PeerReaderTest : ::testing::Test {
    bool read(std::uint64_t key, const Secret& said = secret) {
        std::fill(got.begin(), got.end(), 0);
        return reader.read({reinterpret_cast<std::uint64_t>(given.data()), key}, said,
                           std::as_writable_bytes(std::span(got)));
    }
    bool read_nowhere() {
        return reader.read({8, page.key()}, secret, std::as_writable_bytes(std::span(got)));
    }

    std::array<int, 3> given{1, 2, 3}, got{};
    SecretPage page{secret};
    PeerReader reader;
};

TEST_F(PeerReaderTest, the_process_with_the_secret_is_read) {
    reader.set_process(getpid());
    EXPECT_TRUE(read(page.key()));
    EXPECT_EQ(got, given);
}

TEST_F(PeerReaderTest, without_a_process_nothing_is_read) { EXPECT_FALSE(read(page.key())); }

TEST_F(PeerReaderTest, another_secret_is_another_process_for_ever) {
    reader.set_process(getpid());
    EXPECT_FALSE(read(page.key(), other_secret));
    EXPECT_FALSE(read(page.key()));
}

TEST_F(PeerReaderTest, a_child_has_no_secret) {
    const Child child;
    reader.set_process(child.process());
    EXPECT_FALSE(read(page.key()));
}

TEST_F(PeerReaderTest, memory_that_is_not_there_is_the_fault_of_one_message) {
    reader.set_process(getpid());
    EXPECT_FALSE(read_nowhere());
    EXPECT_FALSE(read(0));
    EXPECT_FALSE(read(8));
    EXPECT_TRUE(read(page.key()));
    EXPECT_EQ(got, given);
}

TEST_F(PeerReaderTest, a_process_that_has_ended_is_not_read) {
    int ended = 0;
    {
        const Child child;
        ended = child.process();
    }
    reader.set_process(ended);
    EXPECT_FALSE(read(page.key()));
}

}  // namespace
}  // namespace heddle::transport::sockets

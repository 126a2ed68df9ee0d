// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/payload/peer_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/file.hpp"

namespace heddle::p2p {
namespace {

using node::Phase;

/// Three processes, all of them this one, by their process ids.
struct PeerMemoryTest : ::testing::Test {
    static node::Node make_node() {
        const int descriptor = node::create_file(node::File::of(3, node::Token::fresh()));
        auto node = node::Node::map(descriptor, 3);
        close(descriptor);
        return node.value();
    }
    void SetUp() override {
        for (std::size_t process = 0; process < 3; ++process) {
            node.page(process).pid.store(static_cast<std::uint32_t>(getpid()));
            node.page(process).phase.store(Phase::initialized);
        }
    }

    node::Node node = make_node();
    PeerMemory memory{node.board(), 3, 0}, second{node.board(), 3, 1}, third{node.board(), 3, 2};
};

TEST_F(PeerMemoryTest, a_process_with_its_token_is_reached) {
    ASSERT_TRUE(memory.reachable(1));
    const int value = 42;
    int read = 0, written = 0;
    EXPECT_TRUE(memory.read(1, &read, reinterpret_cast<std::uint64_t>(&value), sizeof value));
    EXPECT_EQ(read, 42);
    EXPECT_TRUE(memory.write(1, reinterpret_cast<std::uint64_t>(&written), &value, sizeof value));
    EXPECT_EQ(written, 42);
}

TEST_F(PeerMemoryTest, nothing_is_written_to_find_out_whether_it_may_be) {
    EXPECT_TRUE(memory.writable(1));
    node.page(1).token.words[1] ^= 1;
    EXPECT_FALSE(second.writable(1));  // another process
    // A token that no process may write is none that was written over.
    void* token = reinterpret_cast<void*>(node.page(2).token_address.load());
    ASSERT_EQ(mprotect(token, 4096, PROT_READ), 0);
    EXPECT_TRUE(memory.writable(2));
    ASSERT_EQ(mprotect(token, 4096, PROT_READ | PROT_WRITE), 0);
}

TEST_F(PeerMemoryTest, every_process_has_a_token_of_its_own) {
    EXPECT_NE(node.page(0).token, node.page(1).token);
    EXPECT_NE(node.page(0).token_address.load(), node.page(1).token_address.load());
}

TEST_F(PeerMemoryTest, another_token_is_another_process) {
    node.page(1).token.words[1] ^= 1;
    EXPECT_FALSE(memory.reachable(1));
    EXPECT_TRUE(memory.reachable(2));
    node.page(1).token.words[1] ^= 1;
    EXPECT_FALSE(memory.reachable(1));  // for ever
    EXPECT_TRUE(third.reachable(1));
}

TEST_F(PeerMemoryTest, no_memory_at_the_address_is_another_process) {
    node.page(1).token_address.store(8);
    EXPECT_FALSE(memory.reachable(1));
    node.page(2).token_address.store(0);
    EXPECT_FALSE(memory.reachable(2));
}

TEST_F(PeerMemoryTest, a_process_that_refuses_is_one_of_several) {
    ASSERT_TRUE(memory.reachable(1));
    memory.give_up(1);
    EXPECT_FALSE(memory.reachable(1));
    EXPECT_TRUE(memory.reachable(2));
}

TEST_F(PeerMemoryTest, a_process_that_has_finalized_may_be_gone) {
    ASSERT_TRUE(memory.reachable(1));
    node.page(1).phase.store(Phase::finalized);
    EXPECT_FALSE(memory.reachable(1));
    node.page(1).phase.store(Phase::initialized);  // by another session
    EXPECT_TRUE(memory.reachable(1));
}

TEST_F(PeerMemoryTest, a_child_does_not_have_the_token) {
    int go_on[2];
    ASSERT_EQ(pipe(go_on), 0);
    const pid_t child = fork();
    if (child == 0) {
        char byte = 0;
        close(go_on[1]);
        _exit(read(go_on[0], &byte, 1) == 0 ? 0 : 1);
    }
    node.page(1).pid.store(static_cast<std::uint32_t>(child));
    EXPECT_FALSE(memory.reachable(1));
    EXPECT_TRUE(memory.reachable(2));
    close(go_on[0]);
    close(go_on[1]);
    int status = 0;
    waitpid(child, &status, 0);
}

}  // namespace
}  // namespace heddle::p2p

// SPDX-License-Identifier: BSD-3-Clause
#include "node/file.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/node.hpp"

namespace heddle::node {
namespace {

std::string path_of(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

off_t bytes_of(int descriptor) {
    struct stat status{};
    EXPECT_EQ(fstat(descriptor, &status), 0);
    return status.st_size;
}

struct NodeFileTest : ::testing::Test {
    ~NodeFileTest() override { close(made); }

    const File file = File::of(2, Token::fresh());
    const int made = create_file(file);
};

TEST_F(NodeFileTest, is_found) {
    EXPECT_EQ(what_else(made, file), "");
    const int opened = open_file(path_of(made), file);
    EXPECT_EQ(what_else(opened, file), "");
    close(opened);
}

TEST_F(NodeFileTest, keeps_its_size) {
    EXPECT_NE(ftruncate(made, bytes_of(made) + 4096), 0);
    EXPECT_NE(ftruncate(made, 4096), 0);
}

TEST_F(NodeFileTest, of_another_job_is_told) {
    File other = file;
    other.token = Token::fresh();
    EXPECT_NE(what_else(made, other).find("another job"), std::string::npos);
    EXPECT_THROW(open_file(path_of(made), other), std::runtime_error);
    EXPECT_NE(what_else(made, File::of(3, file.token)), "");
}

/// A plain file is none, even one of the right size with the right words at its start.
TEST_F(NodeFileTest, is_no_file_of_somebody) {
    char name[] = "/tmp/heddle-node-file-XXXXXX";
    const int plain = mkstemp(name);
    unlink(name);
    char header[64];
    ASSERT_EQ(pread(made, header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
    ASSERT_EQ(pwrite(plain, header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
    // It is as large as it must be. No file on a disk is as large as memory with segments.
    const auto least = static_cast<off_t>(node::Layout::of(2).bytes(0));
    ASSERT_EQ(ftruncate(plain, least), 0);
    EXPECT_NE(what_else(plain, file), "");
    EXPECT_THROW(open_file(path_of(plain), file), std::runtime_error);
    close(plain);
    const int unsealed = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ASSERT_EQ(ftruncate(unsealed, bytes_of(made)), 0);
    EXPECT_NE(what_else(unsealed, file), "");
    EXPECT_THROW(open_file(path_of(unsealed), file), std::runtime_error);
    close(unsealed);
}

TEST_F(NodeFileTest, opens_nothing_that_is_no_file) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    EXPECT_THROW(open_file(path_of(ends[0]), file), std::runtime_error);
    EXPECT_THROW(open_file("/dev/null", file), std::runtime_error);
    EXPECT_THROW(open_file("/proc/self/fd/9999", file), std::runtime_error);
    close(ends[0]);
    close(ends[1]);
}

TEST_F(NodeFileTest, a_place_is_taken_once) {
    EXPECT_EQ(claim_rank(made, file, 1), 0U);
    EXPECT_EQ(claim_rank(made, file, 1), static_cast<std::uint32_t>(getpid()));
    EXPECT_EQ(claim_rank(made, file, 0), 0U);
}

TEST(File, has_room_for_so_many_ranks_and_not_more) {
    EXPECT_NO_THROW(File::of(4096, {}));
    EXPECT_THROW(File::of(4097, {}), std::runtime_error);
}

TEST(Token, is_read_as_it_is_printed) {
    const Token token = Token::fresh();
    EXPECT_EQ(Token::from(token.text()), token);
    EXPECT_NE(token, Token::fresh());
    for (const char* text :
         {"", "0", "0123456789abcdef0123456789abcdeg", "0123456789abcdef0123456789abcdef0"})
        EXPECT_FALSE(Token::from(text)) << text;
}

}  // namespace
}  // namespace heddle::node

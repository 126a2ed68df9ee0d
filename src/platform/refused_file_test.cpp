// SPDX-License-Identifier: BSD-3-Clause
#include "platform/refused_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>

namespace heddle::platform {
namespace {

constexpr const char* refused = "/proc/self/status";

/// Returns errno of opening it, or 0 if it can be opened.
int error_of_opening(const char* path) {
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return errno;
    close(descriptor);
    return 0;
}

TEST(RefusedFile, by_this_pointer_in_this_thread_only) {
    bool possible = false;
    int error = -1, of_copy = -1, of_other = -1;
    std::thread([&] {
        possible = refuse_to_open(refused);
        error = error_of_opening(refused);
        of_copy = error_of_opening(std::string(refused).c_str());
        of_other = error_of_opening("/proc/self/stat");
    }).join();
    if (!possible) GTEST_SKIP() << "no filters of system calls here";
    EXPECT_EQ(error, EACCES);
    EXPECT_EQ(of_copy, 0);
    EXPECT_EQ(of_other, 0);
    EXPECT_EQ(error_of_opening(refused), 0);
}

}  // namespace
}  // namespace heddle::platform

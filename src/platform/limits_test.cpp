// SPDX-License-Identifier: BSD-3-Clause
#include "platform/limits.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heddle::platform {
namespace {

constexpr std::uint64_t all = 1'000'000;  ///< the memory without a limit

/// Files that replace /proc and /sys.
class ControlGroups : public ::testing::Test {
protected:
    void SetUp() override {
        char name[] = "/tmp/heddle-groups-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        root_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(root_); }
    void write(const std::string& path, const std::string& text) const {
        const std::filesystem::path file = root_ + path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    std::uint64_t memory() const { return memory_of_control_groups(all, root_); }

    std::string root_;
};

TEST_F(ControlGroups, none_leave_everything) {
    EXPECT_EQ(memory(), all);
    write("/proc/self/cgroup", "0::/\n");
    EXPECT_EQ(memory(), all);
    write("/sys/fs/cgroup/memory.max", "max\n");
    EXPECT_EQ(memory(), all);
}

TEST_F(ControlGroups, the_group_itself_counts) {
    write("/proc/self/cgroup", "0::/system.slice/job.scope\n");
    write("/sys/fs/cgroup/system.slice/job.scope/memory.max", "5000\n");
    EXPECT_EQ(memory(), 5000u);
    write("/sys/fs/cgroup/system.slice/job.scope/memory.high", "4000\n");
    EXPECT_EQ(memory(), 4000u);
}

TEST_F(ControlGroups, the_least_of_those_around_it_counts) {
    write("/proc/self/cgroup", "0::/slurm/job_1/step_0\n");
    write("/sys/fs/cgroup/slurm/job_1/step_0/memory.max", "max\n");
    write("/sys/fs/cgroup/slurm/job_1/memory.max", "3000\n");
    write("/sys/fs/cgroup/slurm/memory.max", "9000\n");
    write("/sys/fs/cgroup/slurm/job_2/memory.max", "10\n");  // another job's
    EXPECT_EQ(memory(), 3000u);
    write("/sys/fs/cgroup/slurm/memory.max", "2000\n");
    EXPECT_EQ(memory(), 2000u);
}

TEST_F(ControlGroups, version_1_has_a_hierarchy_for_memory) {
    write("/proc/self/cgroup",
          "11:cpu,cpuacct:/other\n4:hugetlb,memory:/sge/17\n1:name=systemd:/sge/17\n");
    write("/sys/fs/cgroup/memory/other/memory.limit_in_bytes", "10\n");
    write("/sys/fs/cgroup/memory/sge/17/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(memory(), all);
    write("/sys/fs/cgroup/memory/sge/memory.limit_in_bytes", "7000\n");
    EXPECT_EQ(memory(), 7000u);
    write("/sys/fs/cgroup/memory/sge/17/memory.limit_in_bytes", "6000\n");
    EXPECT_EQ(memory(), 6000u);
}

TEST_F(ControlGroups, both_versions_at_once) {
    write("/proc/self/cgroup", "4:memory:/a\n0::/b\n");
    write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "800\n");
    write("/sys/fs/cgroup/unified/b/memory.max", "900\n");
    EXPECT_EQ(memory(), 800u);
    write("/sys/fs/cgroup/unified/b/memory.max", "700\n");
    EXPECT_EQ(memory(), 700u);
}

/// In a container the names of groups may be those outside; visible are those of the container.
TEST_F(ControlGroups, a_group_that_is_not_to_be_seen_is_the_root) {
    write("/proc/self/cgroup", "4:memory:/docker/0123456789ab\n");
    write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1234\n");
    EXPECT_EQ(memory(), 1234u);
    write("/proc/self/cgroup", "0::/../elsewhere\n");
    write("/sys/fs/cgroup/memory.max", "5678\n");
    write("/sys/fs/elsewhere/memory.max", "1\n");
    EXPECT_EQ(memory(), 5678u);
}

/// Returns whether `body` is true in a process with this limit.
bool holds_with_limit(__rlimit_resource which, rlim_t bytes, const std::function<bool()>& body) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit limit{bytes, bytes};
        _exit(setrlimit(which, &limit) == 0 && body() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

constexpr rlim_t terabytes = rlim_t{1024}
    << 40;  ///< more than this process has, even under sanitizers

TEST(Limits, what_fits_is_not_forbidden) {
    EXPECT_EQ(limit_that_forbids({}), "");
    EXPECT_TRUE(holds_with_limit(RLIMIT_AS, terabytes, [] {
        return limit_that_forbids({.addresses = 1 << 20}).empty() && addresses_are_limited();
    }));
}

TEST(Limits, a_limit_is_named) {
    EXPECT_TRUE(holds_with_limit(RLIMIT_AS, terabytes, [] {
        const std::string why = limit_that_forbids({.addresses = terabytes});
        return why.find("this needs 1073741824 MB of address space") == 0 &&
            why.find("ulimit -v") != std::string::npos;
    }));
    EXPECT_TRUE(holds_with_limit(RLIMIT_DATA, terabytes, [] {
        return limit_that_forbids({.data = terabytes}).find("ulimit -d") != std::string::npos;
    }));
    EXPECT_TRUE(holds_with_limit(RLIMIT_FSIZE, 5 << 20, [] {
        return most_file_bytes() == 5 << 20 &&
            limit_that_forbids({.file = 6 << 20}) ==
            "this needs 6 MB of shared memory in a file, of which ulimit -f allows 5 MB";
    }));
}

TEST(Limits, memory_follows_them) {
    const std::uint64_t free = memory_of_process(1);
    EXPECT_GT(free, 1u << 20);
    EXPECT_LE(memory_of_process(4), free / 4);
#if !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)  // sanitizers take memory of their own
    for (const auto which : {RLIMIT_AS, RLIMIT_DATA})
        EXPECT_TRUE(
            holds_with_limit(which, free / 2, [=] { return memory_of_process(1) == free / 2; }));
#endif
}

}  // namespace
}  // namespace heddle::platform

// SPDX-License-Identifier: BSD-3-Clause
#include "dyn/names.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace heddle::dyn {
namespace {

namespace fs = std::filesystem;

/// A folder for one test.
class PublishedNames : public ::testing::Test {
protected:
    PublishedNames() {
        std::string pattern = (fs::temp_directory_path() / "heddle-test-XXXXXX").string();
        above = mkdtemp(pattern.data());
        folder = above + "/names";
    }
    ~PublishedNames() override { fs::remove_all(above); }

    /// Returns the number of entries, and of files that should not be there.
    std::size_t files() const {
        std::size_t count = 0;
        for (const auto& entry : fs::directory_iterator(folder))
            count += entry.path().filename() != "lock";
        return count;
    }

    std::string above, folder;
};

/// Another process that publishes a name and waits to be killed.
class Publisher {
public:
    Publisher(const std::string& folder, const std::string& name) {
        int ends[2];
        EXPECT_EQ(pipe(ends), 0);
        pid_ = fork();
        if (pid_ == 0) {
            Names names(folder);
            const char done = names.publish(name, "port of another") ? 'y' : 'n';
            (void)!write(ends[1], &done, 1);
            while (true) pause();
        }
        close(ends[1]);
        char done = 0;
        EXPECT_EQ(read(ends[0], &done, 1), 1);
        EXPECT_EQ(done, 'y');
        close(ends[0]);
    }
    void kill() {
        ::kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    ~Publisher() {
        if (pid_ > 0) kill();
    }

private:
    pid_t pid_;
};

TEST_F(PublishedNames, are_found_by_others_until_they_are_taken_back) {
    Names server(folder), client(folder);
    EXPECT_FALSE(client.look_up("ocean"));
    EXPECT_TRUE(server.publish("ocean", "port 7"));
    EXPECT_EQ(client.look_up("ocean"), "port 7");
    EXPECT_EQ(server.look_up("ocean"), "port 7");
    EXPECT_TRUE(server.unpublish("ocean"));
    EXPECT_FALSE(client.look_up("ocean"));
    EXPECT_EQ(files(), 0U);
}

TEST_F(PublishedNames, are_published_once) {
    Names one(folder), other(folder);
    EXPECT_TRUE(one.publish("ocean", "port 1"));
    EXPECT_FALSE(one.publish("ocean", "port 2"));
    EXPECT_FALSE(other.publish("ocean", "port 3"));
    EXPECT_EQ(other.look_up("ocean"), "port 1");
    EXPECT_FALSE(other.unpublish("ocean"));
    EXPECT_TRUE(one.unpublish("ocean"));
    EXPECT_FALSE(one.unpublish("ocean"));
    EXPECT_TRUE(other.publish("ocean", "port 3"));
    EXPECT_EQ(one.look_up("ocean"), "port 3");
}

TEST_F(PublishedNames, may_be_any_bytes) {
    Names names(folder), others(folder);
    const std::vector<std::string> all{"",
                                       ".",
                                       "..",
                                       "a/b",
                                       "a\nb",
                                       "1\na",
                                       std::string("a\0b", 3),
                                       std::string(5000, 'x'),
                                       "\xc3\xa4",
                                       " "};
    for (const std::string& name : all) EXPECT_TRUE(names.publish(name, "port of " + name)) << name;
    for (const std::string& name : all) EXPECT_EQ(others.look_up(name), "port of " + name);
    names.clear();
    for (const std::string& name : all) EXPECT_FALSE(others.look_up(name)) << name;
    EXPECT_EQ(files(), 0U);
}

TEST_F(PublishedNames, go_with_their_object) {
    Names client(folder);
    {
        Names server(folder);
        EXPECT_TRUE(server.publish("ocean", "port"));
        EXPECT_TRUE(client.look_up("ocean"));
    }
    EXPECT_FALSE(client.look_up("ocean"));
    EXPECT_EQ(files(), 0U);
}

TEST_F(PublishedNames, of_a_killed_process_are_not_found_and_removed) {
    Publisher other(folder, "ocean");
    Names names(folder);
    EXPECT_EQ(names.look_up("ocean"), "port of another");
    EXPECT_FALSE(names.publish("ocean", "mine"));
    EXPECT_FALSE(names.unpublish("ocean"));
    other.kill();
    EXPECT_EQ(files(), 1U);
    EXPECT_FALSE(names.look_up("ocean"));
    EXPECT_EQ(files(), 0U);
}

TEST_F(PublishedNames, of_a_killed_process_can_be_published_again) {
    Publisher other(folder, "ocean");
    other.kill();
    Names names(folder);
    EXPECT_TRUE(names.publish("ocean", "mine"));
    EXPECT_EQ(names.look_up("ocean"), "mine");
}

TEST_F(PublishedNames, are_published_by_one_of_many_threads) {
    for (int round = 0; round < 50; ++round) {
        Publisher(folder, "ocean").kill();  // every publisher meets a stale entry
        std::atomic<int> published = 0;
        std::vector<std::unique_ptr<Names>> names;
        for (int i = 0; i < 4; ++i) names.push_back(std::make_unique<Names>(folder));
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&, i] {
                if (i % 2 == 0)
                    published += names[static_cast<std::size_t>(i)]->publish("ocean", "port");
                const auto found = names[static_cast<std::size_t>(i)]->look_up("ocean");
                EXPECT_TRUE(!found || found == "port");
            });
        for (std::thread& one : threads) one.join();
        EXPECT_EQ(published, 1);
        EXPECT_EQ(Names(folder).look_up("ocean"), "port");
        names.clear();
    }
    EXPECT_EQ(files(), 0U);
}

TEST_F(PublishedNames, are_not_left_where_others_can_write) {
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms::all);
    Names names(folder);
    try {
        (void)names.publish("ocean", "port");
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), "names are published in " + folder + ": others can write to it");
    }
    EXPECT_THROW((void)names.look_up("ocean"), std::runtime_error);
}

TEST_F(PublishedNames, are_not_left_with_another_user) {
    if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
    fs::create_directory(folder);
    ASSERT_EQ(chown(folder.c_str(), 12345, 12345), 0);
    Names names(folder);
    EXPECT_THROW((void)names.publish("ocean", "port"), std::runtime_error);
}

TEST_F(PublishedNames, need_a_folder) {
    std::ofstream(folder) << "a file";
    EXPECT_THROW((void)Names(folder).publish("ocean", "port"), std::runtime_error);
    EXPECT_THROW((void)Names(above + "/not/there").look_up("ocean"), std::runtime_error);
}

/// Sets a variable until its end.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        setenv(name, value.c_str(), 1);
    }
    ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

private:
    const char* name_;
    std::optional<std::string> before_;
};

TEST_F(PublishedNames, are_left_in_the_folder_of_the_user_by_default) {
    const Variable run("XDG_RUNTIME_DIR", above);
    Names names("");
    EXPECT_TRUE(names.publish("ocean", "port"));
    EXPECT_TRUE(fs::exists(above + "/heddle/names"));
    EXPECT_EQ(Names("").look_up("ocean"), "port");
}

TEST_F(PublishedNames, are_left_among_temporary_files_where_the_user_has_no_folder) {
    const Variable run("XDG_RUNTIME_DIR", above + "/not there"), temporary("TMPDIR", above);
    Names names("");
    EXPECT_TRUE(names.publish("ocean", "port"));
    folder = above + "/heddle-names-" + std::to_string(geteuid());
    EXPECT_EQ(files(), 1U);
    struct stat found{};
    ASSERT_EQ(stat(folder.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700U);
}

TEST_F(PublishedNames, are_not_left_behind_a_link_among_temporary_files) {
    const Variable run("XDG_RUNTIME_DIR", ""), temporary("TMPDIR", above);
    fs::create_directory(folder);
    fs::create_symlink(folder, above + "/heddle-names-" + std::to_string(geteuid()));
    EXPECT_THROW((void)Names("").publish("ocean", "port"), std::runtime_error);
}

}  // namespace
}  // namespace heddle::dyn

// SPDX-License-Identifier: BSD-3-Clause
#include "lines.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

extern char** environ;

namespace heddle::hangs {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::string without_folders(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string hexadecimal(std::uint64_t value) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "0x%" PRIx64, value);
    return text.data();
}

/// A program whose output is read. It ends with the object.
class Child {
public:
    explicit Child(std::vector<std::string> words) {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        // Libraries preloaded into this process are not for addr2line.
        std::vector<char*> variables;
        for (char** entry = environ; *entry != nullptr; ++entry)
            if (std::strncmp(*entry, "LD_PRELOAD=", 11) != 0) variables.push_back(*entry);
        variables.push_back(nullptr);
        if (::posix_spawnp(&pid_, arguments[0], &actions, &attributes, arguments.data(),
                           variables.data()) != 0)
            pid_ = -1;
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        ::close(ends[1]);
        output_ = ends[0];
    }
    ~Child() {
        if (output_ >= 0) ::close(output_);
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// Returns all output until the program ends, or until `end`.
    std::string read_until(steady_clock::time_point end) const {
        std::string text;
        while (pid_ > 0) {
            const auto left =
                std::chrono::duration_cast<milliseconds>(end - steady_clock::now()).count();
            pollfd what{output_, POLLIN, 0};
            if (left <= 0 || ::poll(&what, 1, static_cast<int>(left)) <= 0) break;
            std::array<char, 4096> bytes{};
            const ssize_t count = ::read(output_, bytes.data(), bytes.size());
            if (count <= 0) break;
            text.append(bytes.data(), static_cast<std::size_t>(count));
        }
        return text;
    }

private:
    pid_t pid_ = -1;
    int output_ = -1;
};

/// Turns "/home/me/ring.c:12 (discriminator 3)" into "ring.c:12", and "??:0" into nothing.
std::string location_in(const std::string& line) {
    const std::string place = line.substr(0, line.find(' '));
    const std::size_t colon = place.rfind(':');
    if (colon == std::string::npos || place.starts_with("??") ||
        std::atoi(place.c_str() + colon + 1) <= 0)
        return {};
    return without_folders(place);
}

}  // namespace

std::vector<std::string> lines_of(const std::string& file,
                                  const std::vector<std::uint64_t>& addresses,
                                  steady_clock::time_point end) {
    std::vector<std::string> words{"addr2line", "-e", file};
    for (const std::uint64_t address : addresses) words.push_back(hexadecimal(address));
    std::istringstream lines(Child(std::move(words)).read_until(end));
    std::vector<std::string> found;
    for (const std::uint64_t address : addresses) {
        std::string line;
        std::getline(lines, line);
        std::string location = location_in(line);
        if (location.empty()) location = without_folders(file) + "+" + hexadecimal(address);
        found.push_back(std::move(location));
    }
    return found;
}

}  // namespace heddle::hangs

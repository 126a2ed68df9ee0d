// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "subcommands.hpp"

namespace heddle::cmd {
namespace {

namespace fs = std::filesystem;

/// Becomes Python with a script of bench/, which gets `arguments`. The script lies at the same
/// place in an installation and in the build tree. It is told to which Heddle this command belongs.
[[noreturn]] void become(const char* name, const std::vector<std::string>& arguments) {
    const fs::path bin = fs::canonical("/proc/self/exe").parent_path();
    const fs::path script =
        (bin / HEDDLE_DATADIR_FROM_BINDIR / "heddle/bench" / name).lexically_normal();
    if (!fs::exists(script))
        fail("heddle",
             fmt::format("{} is missing: Heddle was built without HEDDLE_BENCH", script.native()));
    std::vector<std::string> words{"python3", script, "--heddle", bin.parent_path()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(argv.front(), argv.data());
    fail("heddle", fmt::format("python3 cannot be started: {}", std::strerror(errno)));
}

}  // namespace

void bench(const std::vector<std::string>& arguments) { become("measure.py", arguments); }

void logp(const std::vector<std::string>& arguments) { become("logp.py", arguments); }

}  // namespace heddle::cmd

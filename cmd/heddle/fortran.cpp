// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "subcommands.hpp"

namespace heddle::cmd {
namespace {

namespace fs = std::filesystem;

/// Splits a command that may be more than one word, such as "ccache gfortran".
std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

/// Becomes the script that makes the modules. It lies beside their sources, also in a build tree.
void make_modules(const FortranOptions& wanted) {
    const fs::path bin = fs::canonical("/proc/self/exe").parent_path();
    const fs::path sources =
        (bin / HEDDLE_DATADIR_FROM_BINDIR / "heddle/fortran").lexically_normal();
    const fs::path folders =
        (bin / HEDDLE_LIBDIR_FROM_BINDIR / "heddle/fortran").lexically_normal();
    const fs::path script = sources / "modules.sh";
    if (!fs::exists(script))
        fail("heddle fortran",
             fmt::format("{} is missing: Heddle was built without a Fortran compiler",
                         script.native()));
    std::vector<std::string> words{"sh", script};
    if (wanted.output.empty())
        words.insert(words.end(), {"--into", folders, "--sources", sources});
    else
        words.insert(words.end(), {"--output", wanted.output, "--sources", sources});
    for (const std::string& word : words_of(wanted.compiler)) words.push_back(word);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(argv.front(), argv.data());
    fail("heddle fortran",
         fmt::format("{} cannot be started: {}", argv.front(), std::strerror(errno)));
}

}  // namespace heddle::cmd

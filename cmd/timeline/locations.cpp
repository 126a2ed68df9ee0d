// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

#include "timeline.hpp"

namespace heddle::timeline {
namespace {

constexpr std::size_t at_once = 500;  ///< addresses of one call of addr2line

std::string without_folders(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// As a word of the shell.
std::string as_word(const std::string& text) {
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

/// "/home/me/ring.c:12 (discriminator 3)" becomes "ring.c:12"; "??:0" nothing.
std::string location_in(std::string line) {
    line = line.substr(0, line.find_first_of(" \n"));
    const std::size_t colon = line.rfind(':');
    if (colon == std::string::npos || line.starts_with("??") ||
        std::atoi(line.c_str() + colon + 1) <= 0)
        return {};
    return without_folders(line);
}

/// The places `which`, all in one file.
void ask(const std::vector<Place>& places, const std::vector<std::size_t>& which,
         std::vector<std::string>& found) {
    std::string command = "addr2line -e " + as_word(places[which.front()].file);
    for (const std::size_t index : which) command += fmt::format(" {:#x}", places[index].offset);
    const std::unique_ptr<FILE, int (*)(FILE*)> answer(
        ::popen((command + " 2>/dev/null").c_str(), "r"), ::pclose);
    if (answer == nullptr) return;
    char line[4096];
    for (const std::size_t index : which) {
        if (std::fgets(line, sizeof line, answer.get()) == nullptr) return;
        if (std::string text = location_in(line); !text.empty()) found[index] = std::move(text);
    }
}

}  // namespace

std::vector<std::string> locate(const std::vector<Place>& places) {
    std::vector<std::string> found;
    std::map<std::string, std::vector<std::size_t>> of_file;
    for (std::size_t i = 0; i < places.size(); ++i) {
        found.push_back(fmt::format("{}+{:#x}", without_folders(places[i].file), places[i].offset));
        of_file[places[i].file].push_back(i);
    }
    for (const auto& [file, which] : of_file)
        for (std::size_t i = 0; i < which.size(); i += at_once)
            ask(places,
                {which.begin() + static_cast<std::ptrdiff_t>(i),
                 which.begin() + static_cast<std::ptrdiff_t>(std::min(i + at_once, which.size()))},
                found);
    return found;
}

}  // namespace heddle::timeline

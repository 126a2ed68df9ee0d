// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <map>

#include "hangs/lines.hpp"
#include "timeline.hpp"

namespace heddle::timeline {
namespace {

constexpr std::size_t at_once = 500;  ///< addresses for one call of addr2line
constexpr std::chrono::seconds patience{60};

}  // namespace

std::vector<std::string> locate(const std::vector<Place>& places) {
    std::vector<std::string> found(places.size());
    std::map<std::string, std::vector<std::size_t>> of_file;
    for (std::size_t i = 0; i < places.size(); ++i) of_file[places[i].file].push_back(i);
    const auto end = std::chrono::steady_clock::now() + patience;
    for (const auto& [file, which] : of_file)
        for (std::size_t first = 0; first < which.size(); first += at_once) {
            const std::size_t last = std::min(first + at_once, which.size());
            std::vector<std::uint64_t> addresses;
            for (std::size_t i = first; i < last; ++i) addresses.push_back(places[which[i]].offset);
            const std::vector<std::string> lines = hangs::lines_of(file, addresses, end);
            for (std::size_t i = first; i < last; ++i) found[which[i]] = lines[i - first];
        }
    return found;
}

}  // namespace heddle::timeline

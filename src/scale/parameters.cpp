// SPDX-License-Identifier: BSD-3-Clause
#include "scale/parameters.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

namespace heddle::scale {
namespace {

/// Reads "BYTES:US BYTES:US ...".
Curve read_curve(std::istream& words) {
    Curve::Points points;
    for (std::string word; words >> word;) {
        std::istringstream text(word);
        double bytes = 0, us = 0;
        char colon = 0;
        if (!(text >> bytes >> colon >> us) || colon != ':' || !text.eof() || bytes < 0 || us < 0)
            throw std::runtime_error("'" + word + "' is not BYTES:MICROSECONDS");
        if (!points.empty() && bytes <= points.back().first)
            throw std::runtime_error("lengths do not ascend");
        points.emplace_back(bytes, us);
    }
    if (points.empty()) throw std::runtime_error("no points");
    return Curve(std::move(points));
}

double read_number(std::istream& words) {
    double value = 0;
    std::string rest;
    if (!(words >> value) || value < 0 || words >> rest)
        throw std::runtime_error("not one number of at least 0");
    return value;
}

}  // namespace

double Curve::at(std::uint64_t bytes) const noexcept {
    const auto length = static_cast<double>(bytes);
    if (points_.size() == 1 || length <= points_.front().first) return points_.front().second;
    auto after = std::lower_bound(points_.begin() + 1, points_.end() - 1, length,
                                  [](const auto& point, double n) { return point.first < n; });
    const auto& [left, low] = *(after - 1);
    const auto& [right, high] = *after;
    return low + (high - low) * (length - left) / (right - left);
}

void read_parameters(std::istream& file, const std::string& name, Link& link, Parameters& all) {
    const std::map<std::string, std::function<void(std::istream&)>> readers = {
        {"way_us", [&](std::istream& words) { link.way = read_curve(words); }},
        {"o_s_us", [&](std::istream& words) { link.o_s = read_curve(words); }},
        {"o_r_us", [&](std::istream& words) { link.o_r = read_curve(words); }},
        {"byte_us", [&](std::istream& words) { link.byte_us = read_number(words); }},
        {"most_copied",
         [&](std::istream& words) {
             link.most_copied = static_cast<std::uint64_t>(read_number(words));
         }},
        {"signal_us", [&](std::istream& words) { all.signal_us = read_number(words); }},
        {"copied_byte_us", [&](std::istream& words) { all.copied_byte_us = read_number(words); }},
        {"combined_byte_us",
         [&](std::istream& words) { all.combined_byte_us = read_number(words); }},
        {"step_us", [&](std::istream& words) { all.step_us = read_number(words); }},
        {"switch_us", [&](std::istream& words) { link.switch_us = read_number(words); }},
    };
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        if (line.empty() || line.front() == '#') continue;
        std::istringstream words(line);
        std::string key;
        words >> key;
        try {
            const auto reader = readers.find(key);
            if (reader == readers.end()) throw std::runtime_error("there is no parameter " + key);
            reader->second(words);
        } catch (const std::runtime_error& problem) {
            throw std::runtime_error(name + ", line " + std::to_string(number) + ": " +
                                     problem.what());
        }
    }
}

}  // namespace heddle::scale

// SPDX-License-Identifier: BSD-3-Clause
#include "launch/children_info.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string_view>

namespace heddle::launch {
namespace {

/// Keys of the standard, and of Open MPI and MPICH.
constexpr std::array<std::string_view, 19> without_effect{"arch",
                                                          "ompi_prefix",
                                                          "ompi_preload_binary",
                                                          "ompi_preload_files",
                                                          "ompi_stdin_target",
                                                          "ompi_non_mpi",
                                                          "ompi_local_slave",
                                                          "preload_binary",
                                                          "preload_files",
                                                          "preload_files_dest_dir",
                                                          "stdin_target",
                                                          "non_mpi",
                                                          "rank_by",
                                                          "rank-by",
                                                          "oversubscribe",
                                                          "prefix",
                                                          "npernode",
                                                          "appnum",
                                                          "mpi_assert_no_children"};

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

const std::string* value_of(const InfoPairs& info, std::string_view key) {
    const auto found =
        std::find_if(info.begin(), info.end(), [&](const auto& pair) { return pair.first == key; });
    return found == info.end() ? nullptr : &found->second;
}

/// The numbers begin:end:stride.
struct Triplet {
    long begin = 0, end = 0, stride = 1;

    explicit Triplet(std::string_view text) {
        std::array<long, 3> parts{0, 0, 1};
        std::size_t count = 0;
        for (std::string_view rest = text; count < parts.size(); ++count) {
            const std::string_view part = trimmed(rest.substr(0, rest.find(':')));
            const char* const last = part.data() + part.size();
            const auto read = std::from_chars(part.data(), last, parts[count]);
            if (read.ec != std::errc{} || read.ptr != last) refuse(text);
            if (rest.find(':') == std::string_view::npos) break;
            if (count + 1 == parts.size()) refuse(text);
            rest.remove_prefix(rest.find(':') + 1);
        }
        begin = parts[0];
        end = count == 0 ? begin : parts[1];
        stride = parts[2];
        if (stride == 0) refuse(text);
    }

    /// Returns whether `number` is one of its numbers.
    bool has(long number) const {
        const bool between =
            stride > 0 ? begin <= number && number <= end : end <= number && number <= begin;
        return between && (number - begin) % stride == 0;
    }

private:
    [[noreturn]] static void refuse(std::string_view text) {
        throw std::runtime_error("info key soft: '" + std::string(text) +
                                 "' is not a triplet begin:end:stride");
    }
};

}  // namespace

InfoPairs complete_info(const InfoPairs& info) {
    const std::string* path = value_of(info, "file");
    if (path == nullptr) return info;
    std::ifstream file(*path);
    if (!file) throw std::runtime_error("info key file: cannot read " + *path);
    InfoPairs all = info;
    for (std::string line; std::getline(file, line);) {
        const std::string_view text = trimmed(std::string_view(line).substr(0, line.find('#')));
        if (text.empty()) continue;
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos)
            throw std::runtime_error("info key file: " + *path +
                                     " has a line that is not KEY = VALUE");
        const std::string key(trimmed(text.substr(0, equals)));
        if (value_of(info, key) == nullptr) all.emplace_back(key, trimmed(text.substr(equals + 1)));
    }
    return all;
}

void add_without_effect(const InfoPairs& info, std::vector<std::string>& keys) {
    static std::mutex lock;
    // Never destroyed: threads may spawn to the end.
    static std::set<std::string>& noted = *new std::set<std::string>;
    std::lock_guard guard(lock);
    for (const auto& [key, value] : info)
        if (std::find(without_effect.begin(), without_effect.end(), key) != without_effect.end() &&
            noted.insert(key).second)
            keys.push_back(key);
}

int largest_of_set(const std::string& set, int most) {
    std::vector<Triplet> triplets;
    for (std::string_view rest = set;;) {
        triplets.emplace_back(rest.substr(0, rest.find(',')));
        if (rest.find(',') == std::string_view::npos) break;
        rest.remove_prefix(rest.find(',') + 1);
    }
    for (int number = most; number >= 0; --number)
        if (std::any_of(triplets.begin(), triplets.end(),
                        [&](const Triplet& one) { return one.has(number); }))
            return number;
    return -1;
}

int number_to_start(const Command& command) {
    const InfoPairs info = complete_info(command.info);
    const std::string* set = value_of(info, "soft");
    if (set == nullptr) return std::max(command.maxprocs, 0);
    const int number = largest_of_set(*set, command.maxprocs);
    if (number < 0)
        throw std::runtime_error("info key soft: the set '" + *set + "' has no number from 0 to " +
                                 std::to_string(command.maxprocs));
    return number;
}

}  // namespace heddle::launch

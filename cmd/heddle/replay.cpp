// SPDX-License-Identifier: BSD-3-Clause
#include "replay/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "replay/reader.hpp"
#include "replay/sequence.hpp"
#include "subcommands.hpp"

namespace heddle::cmd {
namespace {

using replay::Depths;
using replay::Result;

/// The result for one file, or for all of them.
struct Total {
    std::uint64_t events = 0;
    std::vector<Result> results;

    void add(std::uint64_t more, const std::vector<Result>& of) {
        events += more;
        if (results.empty()) {
            results = of;
            return;
        }
        for (std::size_t i = 0; i < of.size(); ++i) {
            results[i].operations += of[i].operations;
            results[i].arrivals += of[i].arrivals;
            results[i].posts += of[i].posts;
            results[i].seconds += of[i].seconds;
        }
    }
};

/// Reads everything, or with --before-damage only the part before the damage, if there is such a
/// part. It reports the damage in both cases.
replay::Recorded read_recording(const std::string& path, bool before_damage) {
    try {
        return replay::read_recording(path);
    } catch (const replay::Damaged& damaged) {
        if (!before_damage || damaged.before.events.empty()) throw;
        std::fflush(stdout);
        fmt::print(stderr, "heddle: {}; what precedes it is replayed\n", damaged.what());
        return damaged.before;
    }
}

void print_recorded(const replay::Recorded& recorded, const replay::Summary& summary) {
    fmt::print("{}: rank {} of {}, {} events\n", recorded.path, recorded.rank, recorded.ranks,
               recorded.events.size());
    fmt::print(
        "  {} receives posted, {} of them with MPI_ANY_SOURCE, {} with MPI_ANY_TAG; at most {} at "
        "a time\n",
        summary.posts, summary.any_source, summary.any_tag, summary.most_posted);
    fmt::print("  {} messages, {} of them unexpected; at most {} of these at a time\n",
               summary.arrivals, summary.unexpected, summary.most_unexpected);
    if (summary.cancelled != 0) fmt::print("  {} receives cancelled\n", summary.cancelled);
    if (summary.taken != 0) fmt::print("  {} messages taken by probes\n", summary.taken);
    if (summary.left_out != 0)
        fmt::print(
            "  {} events left out: a receive with MPI_ANY_TAG got another message than in the "
            "replay\n",
            summary.left_out);
    fmt::print("\n");
}

// There is no average of nothing.
std::string average(const Depths& depths) {
    return depths.operations() == 0 ? "-" : fmt::format("{:.2f}", depths.average());
}
std::string nanoseconds_each(const Result& result) {
    if (result.operations == 0) return "-";
    return fmt::format("{:.1f}", result.seconds * 1e9 / static_cast<double>(result.operations));
}

void print_averages(const Total& total) {
    fmt::print("  {:<10}{:>26}{:>26}{:>14}\n", "", "looked at by a message",
               "looked at by a receive", "ns per");
    fmt::print("  {:<10}{:>14}{:>12}{:>14}{:>12}{:>14}\n", "engine", "average", "deepest",
               "average", "deepest", "operation");
    for (const Result& result : total.results)
        fmt::print("  {:<10}{:>14}{:>12}{:>14}{:>12}{:>14}\n", result.engine,
                   average(result.arrivals), result.arrivals.deepest(), average(result.posts),
                   result.posts.deepest(), nanoseconds_each(result));
    for (const Result& result : total.results)
        if (result.operations < total.events)
            fmt::print("  {} had time for {} of the {} events; its figures are of these.\n",
                       result.engine, result.operations, total.events);
    fmt::print("\n");
}

std::string depths_of_bucket(std::size_t i) {
    if (i <= 1) return std::to_string(i);
    const auto first = std::uint64_t{1} << (i - 1);
    return fmt::format("{}-{}", first, first - 1 + first);
}

void print_histogram(const char* title, const Total& total, Depths Result::* depths) {
    std::size_t rows = 0;
    for (const Result& result : total.results)
        if ((result.*depths).operations() != 0)
            rows = std::max(rows, (result.*depths).used_buckets());
    if (rows == 0) return;
    fmt::print("  {:<24}", title);
    for (const Result& result : total.results) fmt::print("{:>12}", result.engine);
    fmt::print("\n");
    for (std::size_t i = 0; i < rows; ++i) {
        fmt::print("  {:<24}", depths_of_bucket(i));
        for (const Result& result : total.results) fmt::print("{:>12}", (result.*depths).bucket(i));
        fmt::print("\n");
    }
    fmt::print("\n");
}

void print_total(const Total& total) {
    print_averages(total);
    print_histogram("looked at by messages", total, &Result::arrivals);
    print_histogram("looked at by receives", total, &Result::posts);
}

}  // namespace

void replay_files(const ReplayOptions& options) try {
    Total all;
    for (const std::string& file : options.files) {
        const replay::Recorded recorded = read_recording(file, options.before_damage);
        const replay::Sequence sequence(recorded);
        print_recorded(recorded, sequence.summary());
        Total one;
        one.add(sequence.operations().size(), replay::replay(sequence));
        print_total(one);
        all.add(one.events, one.results);
    }
    if (options.files.size() == 1) return;
    fmt::print("all {} files: {} events\n\n", options.files.size(), all.events);
    print_total(all);
} catch (const std::exception& problem) {
    std::fflush(stdout);
    fmt::print(stderr, "heddle: {}\n", problem.what());
    throw Failed{2};
}

}  // namespace heddle::cmd

// SPDX-License-Identifier: BSD-3-Clause
#include "collectives.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>

#include "coll/select.hpp"
#include "tool/knobs.hpp"

namespace heddle::cmd {
namespace {

std::string size_text(std::uint64_t bytes) {
    if (bytes == std::numeric_limits<std::uint64_t>::max()) return "any";
    if (bytes % 1024 == 0 && bytes != 0) return fmt::format("{} KiB", bytes / 1024);
    return fmt::format("{} B", bytes);
}

std::string ranks_text(std::int32_t ranks) {
    return ranks == std::numeric_limits<std::int32_t>::max() ? "any" : std::to_string(ranks);
}

/// Returns the conditions of a line in words.
std::string needs_text(const coll::Line& line) {
    const coll::Needs needs = line.algorithm->needs | line.calls;
    std::string text;
    for (const auto& [need, name] : {std::pair{coll::Needs::commutative, "commutative operations"},
                                     std::pair{coll::Needs::blocking, "blocking calls"},
                                     std::pair{coll::Needs::shared, "shared memory"},
                                     std::pair{coll::Needs::nodes, "ranks on several nodes"}})
        if (includes(needs, need)) text += (text.empty() ? " (" : ", ") + std::string(name);
    return text.empty() ? text : text + ")";
}

void print_forced() {
    const tool::Settings settings = tool::settings_now();
    for (const coll::Algorithm& algorithm : coll::algorithms())
        if (coll::forced(algorithm.what, settings) == &algorithm)
            fmt::print("{} takes {} wherever that is possible, as its knob says.\n",
                       coll::name_of(algorithm.what), algorithm.name);
}

}  // namespace

void print_collectives() {
    fmt::print(
        "Within one group; the first line that fits a call is taken. Sizes are those of the "
        "buffer, or of\n"
        "one block where there is a block for everyone. HEDDLE_COLL_OPERATION forces an "
        "algorithm.\n\n");
    fmt::print("{:<21}{:>10}{:>8}  {:<15}{}\n", "operation", "up to", "ranks", "algorithm", "why");
    for (const coll::Line& line : coll::selection_table())
        fmt::print("{:<21}{:>10}{:>8}  {:<15}{}{}\n", coll::name_of(line.algorithm->what),
                   size_text(line.most_bytes), ranks_text(line.most_ranks), line.algorithm->name,
                   line.why, needs_text(line));
    print_forced();
}

}  // namespace heddle::cmd

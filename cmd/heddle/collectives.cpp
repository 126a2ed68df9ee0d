// SPDX-License-Identifier: BSD-3-Clause
#include "collectives.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>

#include "coll/select.hpp"

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

}  // namespace

void print_collectives() {
    fmt::print(
        "Within one group; the first line that fits a call is taken. Sizes are those of the "
        "buffer, or of\n"
        "one block where there is a block for everyone.\n\n");
    fmt::print("{:<21}{:>10}{:>8}  {:<15}{}\n", "operation", "up to", "ranks", "algorithm", "why");
    for (const coll::Line& line : coll::selection_table())
        fmt::print("{:<21}{:>10}{:>8}  {:<15}{}{}\n", coll::name_of(line.what),
                   size_text(line.most_bytes), ranks_text(line.most_ranks),
                   coll::name_of(line.algorithm), line.why,
                   line.needs_commutative ? " (commutative operations)" : "");
}

}  // namespace heddle::cmd

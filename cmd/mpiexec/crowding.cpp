// SPDX-License-Identifier: BSD-3-Clause
#include "crowding.hpp"

#include <algorithm>
#include <charconv>

#include "environment.hpp"

namespace heddle::mpiexec {

namespace {

/// Returns the first number of a list such as "4,2", which has one for each level of nesting.
/// Returns 0 if `text` is no such list.
int first_number(std::string_view text) {
    constexpr int most = 1 << 20;
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return std::clamp(value, 0, most);
}

}  // namespace

std::vector<int> openmp_threads(const Job& job) {
    std::vector<int> threads;
    threads.reserve(static_cast<std::size_t>(job.size()));
    for (const Program& program : job.programs) {
        const Environment environment(job.environment, program.environment);
        const int own = first_number(environment.value("OMP_NUM_THREADS"));
        threads.insert(threads.end(), static_cast<std::size_t>(program.ranks.value_or(0)), own);
    }
    return threads;
}

bool crowded(const std::vector<int>& threads, const std::vector<std::vector<int>>& bindings,
             const std::vector<Core>& cores) {
    const auto there = static_cast<std::size_t>(hardware_threads(cores));
    std::size_t wanted = 0;
    for (std::size_t rank = 0; rank < threads.size(); ++rank) {
        const std::size_t room = bindings[rank].empty() ? there : bindings[rank].size();
        const std::size_t own = threads[rank] > 0 ? static_cast<std::size_t>(threads[rank]) : room;
        if (own > room) return true;
        wanted += own;
    }
    return wanted > there;
}

}  // namespace heddle::mpiexec

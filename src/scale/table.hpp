// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The time of each algorithm of a collective, and the library's choice.

#include <cstdint>
#include <vector>

#include "scale/calls.hpp"
#include "scale/parameters.hpp"
#include "scale/simulation.hpp"

namespace heddle::scale {

struct Row {
    const coll::Algorithm* algorithm = nullptr;
    bool chosen = false;     ///< the library's choice
    bool best = false;       ///< the fastest simulated one
    bool simulated = false;  ///< else it has more steps than the limit
    Outcome outcome{};
    double us =
        0;  ///< time of a call; without a simulation a lower bound, the processor time of one rank
};

struct Table {
    coll::Collective what;
    std::uint64_t bytes = 0;
    std::vector<Row> rows{};

    const Row& chosen() const;
    /// Returns the chosen algorithm's time divided by the best one's, at least. Returns 0 if none
    /// was simulated.
    double loss() const;
};

struct TableSettings {
    SimulationOptions simulation{};
    std::uint64_t most_steps = 40'000'000;  ///< of all ranks
};

/// Compares all algorithms that may do the call.
Table compare(Ranks& ranks, const Parameters& parameters, const CallSettings& call,
              const TableSettings& settings);

}  // namespace heddle::scale

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What each algorithm of a collective would take, and which one the library chooses.

#include <cstdint>
#include <vector>

#include "scale/calls.hpp"
#include "scale/parameters.hpp"
#include "scale/simulation.hpp"

namespace heddle::scale {

struct Row {
    const coll::Algorithm* algorithm = nullptr;
    bool chosen = false;     ///< by the library
    bool best = false;       ///< of those that were simulated
    bool simulated = false;  ///< else it has more steps than the limit
    Outcome outcome{};
    double us =
        0;  ///< of a call; at least, where it was not simulated: what keeps the processor of one rank
};

struct Table {
    coll::Collective what;
    std::uint64_t bytes = 0;
    std::vector<Row> rows{};

    const Row& chosen() const;
    /// How many times as long as the best one the chosen one takes, at least; 0 where none was simulated.
    double loss() const;
};

struct TableSettings {
    SimulationOptions simulation{};
    std::uint64_t most_steps = 40'000'000;  ///< of all ranks
};

/// All algorithms that may do the call.
Table compare(Ranks& ranks, const Parameters& parameters, const CallSettings& call,
              const TableSettings& settings);

}  // namespace heddle::scale

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A job from its start to its end, in parts, by its schedules alone.
///
/// Parts that are no collectives in the library are written here as schedules with the same rounds.
/// These are the exchange of MPI_Comm_split (comm/participants.hpp, gather_all()) and the end of
/// MPI_Finalize (comm/finalize.cpp).

#include <cstdint>
#include <string>
#include <vector>

#include "scale/parameters.hpp"
#include "scale/simulation.hpp"

namespace heddle::scale {

struct JobPart {
    std::string name;
    Outcome outcome;
    bool right = true;  ///< the results are right

    bool fine() const noexcept { return right && outcome.fine(); }
};

struct SimulatedJob {
    std::vector<JobPart> parts;
    std::uint64_t communicator_bytes = 0;  ///< for one rank, without its group
};

/// Simulates the job. Results are checked; no message is buffered.
SimulatedJob simulate_job(const launch::RegularMap& map, const Parameters& parameters);

}  // namespace heddle::scale

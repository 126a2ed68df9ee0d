// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A job from its start to its end, in parts, by its schedules alone.
///
/// What is not a collective in the library is written here as a schedule with the same rounds: the exchange of MPI_Comm_split
/// (comm/participants.hpp, gather_all()) and the end of MPI_Finalize (comm/finalize.cpp).

#include <cstdint>
#include <string>
#include <vector>

#include "scale/parameters.hpp"
#include "scale/simulation.hpp"

namespace heddle::scale {

struct JobPart {
    std::string name;
    Outcome outcome;
    bool right = true;  ///< the results

    bool fine() const noexcept { return right && outcome.fine(); }
};

struct SimulatedJob {
    std::vector<JobPart> parts;
    std::uint64_t communicator_bytes = 0;  ///< of a rank, without its group
};

/// Results are looked at; no message is buffered.
SimulatedJob simulate_job(const launch::RegularMap& map, const Parameters& parameters);

}  // namespace heddle::scale

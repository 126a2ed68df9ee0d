// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Advice: what slowed a process down, by its counters, and how to avoid it.
///
/// Thread safety  that of counters: exact once the program's threads do not communicate any more.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "objects/file.hpp"
#include "p2p/report/contention.hpp"
#include "tool/counters.hpp"
#include "tool/settings.hpp"

namespace heddle::objects {
class Process;
}

namespace heddle::p2p {

/// A rank whose kernel refuses membarrier to it.
struct RefusedFences {
    std::int32_t rank;
    int error;  ///< errno
};

/// Facts that advice rests on.
struct Findings {
    tool::Settings settings;
    tool::Values counted;
    std::vector<Contention> contended;
    std::size_t instances;
    std::size_t threads;  ///< threads that have called MPI
    std::vector<RefusedFences> fences{};
    objects::SmallWrites small_writes{};
};

Findings findings_of(objects::Process& process);

/// Returns a sentence for each finding that stands out, or none.
std::vector<std::string> advise(const Findings& findings);

}  // namespace heddle::p2p

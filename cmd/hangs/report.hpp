// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The report on where a job is: ranks that do the same are told at once, the fewest first. A pure function of a
/// snapshot, or of two, of which the later one says what has moved.

#include <string>
#include <vector>

#include "snapshot.hpp"

namespace heddle::hangs {

struct Line {
    std::string text;
    bool odd = false;  ///< the fewest ranks of several groups are in it
};

/// `before`: a snapshot taken a moment earlier; nullptr if there is none.
std::vector<Line> report(const Snapshot& now, const Snapshot* before);

/// The same for programs: an object with all ranks and their threads. `verdict`: a value of JSON.
std::string report_in_json(const Snapshot& now, const std::string& verdict);

}  // namespace heddle::hangs

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The report on where a job is. Ranks that do the same share a line, and the fewest come first. It
/// is a pure function of one snapshot or of two, and the later one shows progress.

#include <string>
#include <vector>

#include "snapshot.hpp"

namespace heddle::hangs {

struct Line {
    std::string text;
    bool odd = false;  ///< it has the fewest ranks of several groups
};

/// Returns the lines. `before` is a snapshot taken a moment earlier, or nullptr if there is none.
std::vector<Line> report(const Snapshot& now, const Snapshot* before);

/// Returns the same for programs: an object with all ranks and their threads. `verdict` is a value
/// of JSON.
std::string report_in_json(const Snapshot& now, const std::string& verdict);

}  // namespace heddle::hangs

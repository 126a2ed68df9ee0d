// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A row of `heddle top`: what a thread has done in a while. It can be packed as bytes for other
/// hosts.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "samples.hpp"

namespace heddle::activity {

/// The row of a thread, or of a rank without threads.
struct Row {
    int rank = 0;
    pid_t pid = 0;
    std::string host;  ///< empty for this host
    std::uint32_t thread = 0;
    char state = '?';
    std::optional<double> processor, in_mpi;
    std::optional<Traffic> traffic;
    std::uint64_t memory = 0;
    std::string call, end;
    std::optional<int> waits_for;  ///< rank in MPI_COMM_WORLD
    double seconds = 0;            ///< the length of its present wait
};

std::string packed(const std::vector<Row>& rows);

/// Returns nothing if these are not the bytes of rows.
std::optional<std::vector<Row>> unpacked(std::string_view bytes);

}  // namespace heddle::activity

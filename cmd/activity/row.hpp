// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A row of `heddle top`: what a thread has done in a while, as bytes for other hosts, too.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "samples.hpp"

namespace heddle::activity {

/// Of a thread, or of a rank that has none.
struct Row {
    int rank = 0;
    pid_t pid = 0;
    std::string host;  ///< empty: this one
    std::uint32_t thread = 0;
    char state = '?';
    std::optional<double> processor, in_mpi;
    std::optional<Traffic> traffic;
    std::uint64_t memory = 0;
    std::string call, end;
    std::optional<int> waits_for;  ///< rank in MPI_COMM_WORLD
    double seconds = 0;            ///< for which it has waited
};

std::string packed(const std::vector<Row>& rows);

/// Nothing if these are not the bytes of rows.
std::optional<std::vector<Row>> unpacked(std::string_view bytes);

}  // namespace heddle::activity

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Info hints of files (MPI 5.0, 14.2.8, and those that the field knows).

#include <cstdint>
#include <string>

#include "objects/info.hpp"

namespace heddle::io {

enum class Choice : std::uint8_t { automatic, enable, disable };

/// What is in force. MPI_File_get_info tells all of it, and nothing that is not.
struct Hints {
    std::uint64_t cb_buffer_size = std::uint64_t{1} << 20;  ///< of an aggregator, at a time
    std::uint64_t cb_nodes = 0;                             ///< aggregators; 0: as many as pays
    std::uint64_t ind_rd_buffer_size = std::uint64_t{4} << 20;
    std::uint64_t ind_wr_buffer_size = std::uint64_t{1} << 20;
    std::uint64_t striping_unit = 0;  ///< borders of file domains; 0: as the file system says
    int file_perm = 0666;
    bool no_indep_rw = false;
    Choice cb_read = Choice::automatic;
    Choice cb_write = Choice::automatic;
    Choice ds_read = Choice::automatic;
};

/// Takes what it understands and what can be true; what is absent, or makes no sense, stays as it is. `opens`: also
/// what counts only when a file is opened.
void apply(Hints& hints, const objects::Info& info, bool opens);
void report(const Hints& hints, objects::Info& info);

}  // namespace heddle::io

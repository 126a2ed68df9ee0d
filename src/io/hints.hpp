// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Info hints of files (MPI 5.0, 14.2.8, and hints of other MPI libraries).

#include <cstdint>
#include <string>

#include "io/file_system.hpp"
#include "objects/info.hpp"

namespace heddle::io {

enum class Choice : std::uint8_t { automatic, enable, disable };

/// The hints in force. MPI_File_get_info tells all of them, and no others.
struct Hints {
    std::uint64_t cb_buffer_size = std::uint64_t{1} << 20;  ///< of an aggregator, at a time
    std::uint64_t cb_nodes = 0;                             ///< aggregators; 0: as many as pays
    std::uint64_t ind_rd_buffer_size = std::uint64_t{4} << 20;
    std::uint64_t ind_wr_buffer_size = std::uint64_t{1} << 20;
    std::uint64_t striping_unit = 0;  ///< borders of file domains; 0: as the file system says
    int file_perm = 0666;
    Style style = Style::unknown;
    Choice cb_read = Choice::automatic;
    Choice cb_write = Choice::automatic;
    Choice ds_read = Choice::automatic;
};

/// The hints that divide a collective access. They are the same for all processes of a file,
/// whatever each process has given.
struct Agreed {
    std::uint64_t cb_buffer_size, cb_nodes, striping_unit;
    Choice cb_read, cb_write;
};
Agreed agreed_in(const Hints& hints) noexcept;
void take(Hints& hints, const Agreed& agreed) noexcept;

/// Takes the hints that it understands and that can be true. Absent or senseless hints stay as they
/// are. `opens` says that hints that only count when a file is opened are taken, too.
void apply(Hints& hints, const objects::Info& info, bool opens);
void report(const Hints& hints, objects::Info& info);

}  // namespace heddle::io

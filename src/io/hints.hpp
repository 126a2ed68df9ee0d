// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Info hints of files (MPI 5.0, 14.2.8, and those that the field knows).

#include <cstdint>
#include <string>

#include "io/file_system.hpp"
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
    Style style = Style::unknown;
    Choice cb_read = Choice::automatic;
    Choice cb_write = Choice::automatic;
    Choice ds_read = Choice::automatic;
};

/// The same for all processes of a file, whatever each of them has given: those that say how a collective access
/// is divided.
struct Agreed {
    std::uint64_t cb_buffer_size, cb_nodes, striping_unit;
    Choice cb_read, cb_write;
};
Agreed agreed_in(const Hints& hints) noexcept;
void take(Hints& hints, const Agreed& agreed) noexcept;

/// Takes what it understands and what can be true; what is absent, or makes no sense, stays as it is. `opens`: also
/// what counts only when a file is opened.
void apply(Hints& hints, const objects::Info& info, bool opens);
void report(const Hints& hints, objects::Info& info);

}  // namespace heddle::io

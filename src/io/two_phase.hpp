// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Collective access: all processes of a file, each with its own data (MPI 5.0, 14.4.2).
///
/// Plan           each process tells the others where its data begin and end, and how long their
///                runs are. If no rank's data lie between another's, or runs are long, each
///                accesses the file itself. Otherwise some of the processes are aggregators, and
///                each has a domain of the file.
/// Two phases     an aggregator goes through its domain by windows of cb_buffer_size. To write, it
///                gets of every process a list of sections and their data, and writes the covered
///                bytes. To read, it gets the lists, reads, and gives the data back. Strides are
///                one section each, so that lists are short. On one node data go through memory
///                that all map (io/node_phases.hpp), otherwise in messages.
/// Bytes          that no process has written stay the same: an aggregator writes runs, not
///                windows.
///
/// The outcome    is that of all: if one aggregator fails, every process learns of the first
///                failure.

#include <cstdint>

#include "core/thread.hpp"
#include "io/access.hpp"
#include "io/shared_windows.hpp"

namespace heddle::io {

/// Does a collective access. `tag` is that of this call and the few that follow it (next_tag()).
Outcome access_together(core::Thread& thread, OpenFile& file, const Part& part, Stream& stream,
                        bool writes, std::int32_t tag, SharedWindows& memory) noexcept;

}  // namespace heddle::io

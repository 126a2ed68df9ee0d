// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Opening and closing files together, and what all that have one open do to it at once (MPI 5.0, 14.2).
///
/// Opening        when all have come, rank 0 opens the file, and makes it where that was asked for; it tells the others,
///                who then open it themselves. Either all have it open, or none, and all answer the same error, which names the rank
///                that it comes from.
///
/// Errors         functions that answer int answer an MPI error code that the file's error handler has seen, or before
///                there is a file, that of MPI_FILE_NULL.

#include <cstdint>
#include <string>

#include "core/thread.hpp"
#include "io/failure.hpp"
#include "io/open_file.hpp"
#include "objects/communicator.hpp"
#include "objects/file.hpp"
#include "objects/info.hpp"

namespace heddle::io {

int open(core::Thread& thread, objects::Communicator& parent, const std::string& name, int amode,
         const objects::Info* info, objects::File*& result);
int close(core::Thread& thread, objects::File& file);
int remove(core::Thread& thread, const std::string& name);

/// Collective: whether all have come without a failure; else the first one, on all of them.
Failure agree(core::Thread& thread, OpenFile& file, const Failure& mine);
/// Whether all have given the same numbers; no matter which, if not.
int check_same(core::Thread& thread, objects::File& file, const char* argument, std::int64_t value);

/// Waits until nothing is left of nonblocking accesses, also of those that the program has let go.
void wait_for_the_rest(OpenFile& file) noexcept;

// Collective:
int resize(core::Thread& thread, objects::File& file, std::int64_t bytes);
int allocate(core::Thread& thread, objects::File& file, std::int64_t bytes);
int sync(core::Thread& thread, objects::File& file);
/// After agree(): all have come.
int set_view(core::Thread& thread, objects::File& file, ViewPointer view,
             std::uint64_t etype_extent);
int set_atomicity(core::Thread& thread, objects::File& file, bool atomic);

/// Raises a failure on the file: "writing 8 bytes at byte 0: ...".
int raise(core::Thread& thread, objects::File& file, const Failure& failure,
          const std::string& doing);

}  // namespace heddle::io

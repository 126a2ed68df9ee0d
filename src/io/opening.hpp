// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Opening and closing files together, and collective operations on an open file (MPI 5.0, 14.2).
///
/// Opening        when all have come, rank 0 opens the file, and creates it if the program asked
///                for that. It notifies the others, which then open it themselves. Either all have
///                it open, or none. All return the same error, which names the rank that it comes
///                from.
///
/// Errors         functions that return int return an MPI error code that the file's error handler
///                has seen. Before there is a file, it is the handler of MPI_FILE_NULL.

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

/// Waits for all processes. Returns no failure if none of them has one. Otherwise all return the
/// first failure. Collective.
Failure agree(core::Thread& thread, OpenFile& file, const Failure& mine);
/// Checks that all have given the same number. If not, raises an error on every process.
int check_same(core::Thread& thread, objects::File& file, const char* argument, std::int64_t value);

/// Waits for all nonblocking accesses to end, also for those that the program has let go.
void wait_for_the_rest(OpenFile& file) noexcept;

// Collective:
int resize(core::Thread& thread, objects::File& file, std::int64_t bytes);
int allocate(core::Thread& thread, objects::File& file, std::int64_t bytes);
int sync(core::Thread& thread, objects::File& file);
/// Sets a view. To be called after agree(): all have come.
int set_view(core::Thread& thread, objects::File& file, ViewPointer view,
             std::uint64_t etype_extent);
int set_atomicity(core::Thread& thread, objects::File& file, bool atomic);

/// Raises a failure on the file, with words such as "writing 8 bytes at byte 0: ...".
int raise(core::Thread& thread, objects::File& file, const Failure& failure,
          const std::string& doing);

}  // namespace heddle::io

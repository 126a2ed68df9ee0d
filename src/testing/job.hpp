// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A job of several processes in one address space, for tests: each rank is a Process object, and
/// each of its threads a thread that is attached to it and calls MPI functions as usual. What the
/// ranks share is mapped once, so that ThreadSanitizer sees both sides of every access.

#include <functional>

namespace heddle::testing {

/// Runs `body(rank, thread)` on `threads` threads of each of `ranks` processes; MPI is initialized
/// before, and finalized when all threads of a rank have returned.
void run_job(int ranks, int threads, const std::function<void(int rank, int thread)>& body);

}  // namespace heddle::testing

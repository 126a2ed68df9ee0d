// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The counters of a process, added up over its instances and threads (tool/counters.hpp).
///
/// Thread safety  from any thread, while others count. Only counters of one communicator take the
///                locks of instances.

#include <vector>

#include "tool/counters.hpp"

namespace heddle::objects {
class Process;
}  // namespace heddle::objects

namespace heddle::p2p {

/// Returns all counters except those of communicators, threads and instances, which are 0.
tool::Values read_counters(objects::Process& process);

/// Returns a counter of the communicator whose messages have context ids `context` and the next
/// one.
std::uint64_t read_counter(objects::Process& process, tool::CounterIndex which,
                           std::uint32_t context);

/// Returns how many threads have called MPI. They are numbered from 0 on as they come. A thread
/// that comes after another has ended takes over its number and its counters.
std::size_t count_threads(const objects::Process& process);

/// Returns a counter of threads, or of instances (tool::is_array): a value for each, by its number.
std::vector<std::uint64_t> read_array(objects::Process& process, tool::CounterIndex which);

}  // namespace heddle::p2p

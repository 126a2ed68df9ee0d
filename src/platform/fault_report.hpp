// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Where the program was when it died of SIGSEGV, SIGBUS, SIGFPE or SIGILL.
///
/// A copy of the process (fork) walks its stack and asks addr2line for lines, so that what is broken in the process cannot keep it
/// from ending: it waits for the copy for some seconds at most, and dies of the signal as it would have.
///
/// Handlers       only signals that have their default action are handled; a program or a language that sets its own keeps it.
/// Stack          the thread that calls report_faults() gets one for signals, so that its overflow is told, too.
/// Cost           none until a signal comes.

#include <cstddef>

namespace heddle::platform {

/// Writes who the calling thread is, "rank 1, thread 2", to `text`. Called in a signal handler.
using WhoAmI = void (*)(char* text, std::size_t room) noexcept;

/// From now on. Once is enough; it is called again where MPI is opened again.
void report_faults(WhoAmI who) noexcept;

}  // namespace heddle::platform

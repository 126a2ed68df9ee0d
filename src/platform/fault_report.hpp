// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Reports where the program was when it died of SIGSEGV, SIGBUS, SIGFPE or SIGILL.
///
/// A copy of the process (fork) walks its stack and asks addr2line for lines. So damage in the
/// process cannot keep it from ending. It waits for the copy for some seconds at most, and then
/// dies of the signal as without a report.
///
/// Handlers       only signals with their default action are handled. A program or a language that
///                sets its own handler keeps it.
/// Stack          the thread that calls report_faults() gets one for signals, so that its overflow
///                is reported, too.
/// Cost           none until a signal comes.

#include <cstddef>

namespace heddle::platform {

/// Writes the name of the calling thread, "rank 1, thread 2", to `text`. Called in a signal
/// handler.
using WhoAmI = void (*)(char* text, std::size_t room) noexcept;

/// Begins to report. One call is enough. It is called again when MPI is opened again.
void report_faults(WhoAmI who) noexcept;

}  // namespace heddle::platform

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Standard output of the program, so that what it has printed is not lost with it.
///
/// The C library keeps what goes to a file or a pipe until a buffer is full. A rank that is killed takes
/// the buffer with it, and one that hangs never fills it. So mpiexec is let to look into the buffer
/// (platform/print_view.hpp); where that cannot be, each line leaves when it is complete.
///
/// Thread safety  every function from any thread.

namespace heddle::platform {

/// From now on what the program prints is not lost with it. What was printed before leaves now.
void protect_output() noexcept;

/// Lets what is in the buffer leave, if protect_output() was called: for a thread about to sleep, perhaps
/// for ever. Never waits for a thread that is printing.
void flush_output() noexcept;

/// Waits until whoever reads the pipe or the socket has taken what was written to it: for so long at most.
void wait_until_read(int descriptor, int milliseconds) noexcept;

}  // namespace heddle::platform

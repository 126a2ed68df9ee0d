// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Standard output of the program, so that what it has printed is not lost with it.
///
/// The C library keeps what goes to a file or a pipe until a buffer is full. A rank that is killed takes
/// the buffer with it, and one that hangs never fills it.
///
/// Thread safety  every function from any thread.

namespace heddle::platform {

/// From now on each line leaves when it is complete. What was printed before leaves now.
void print_line_by_line() noexcept;

/// Lets a piece of a line leave, if print_line_by_line() was called: for a thread about to sleep, perhaps
/// for ever. Never waits for a thread that is printing.
void flush_unfinished_line() noexcept;

}  // namespace heddle::platform

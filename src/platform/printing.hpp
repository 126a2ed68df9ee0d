// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Standard output of the program, whose printed text must not be lost with it.
///
/// The C library buffers output to a file or a pipe until a buffer is full. A rank that is killed
/// takes the buffer with it, and one that hangs never fills it. So mpiexec may look into the buffer
/// (platform/print_view.hpp). If that is impossible, each line is written when it is complete.
///
/// Thread safety  every function from any thread.

namespace heddle::platform {

/// Begins to protect printed text. Writes earlier text now.
void protect_output() noexcept;

/// Writes the buffer, if protect_output() was called. It is for a thread about to sleep, perhaps
/// for ever. Never waits for a thread that is printing.
void flush_output() noexcept;

/// Waits until the reader of the pipe or socket has taken all written bytes, at most for this time.
void wait_until_read(int descriptor, int milliseconds) noexcept;

}  // namespace heddle::platform

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Makes one thread unable to open a file.

namespace heddle::platform {

/// Makes open() of `path`, by this very pointer, fail with EACCES. That holds in the calling thread
/// and in threads that it makes. Other threads, and equal names elsewhere in memory, are not
/// affected. This cannot be undone: the thread should end soon.
///
/// A filter of system calls (seccomp) does it. Returns false if the kernel accepts none, or if the
/// processor is unknown here.
bool refuse_to_open(const char* path) noexcept;

}  // namespace heddle::platform

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A file that one thread may not open.

namespace heddle::platform {

/// From now on open() of `path`, by this very pointer, fails with EACCES in the calling thread and in those that it makes.
/// Other threads, and the same name elsewhere in memory, are not concerned. There is no way back: the thread should end soon.
///
/// A filter of system calls (seccomp) does it. False where the kernel takes none, or its processor is not known here.
bool refuse_to_open(const char* path) noexcept;

}  // namespace heddle::platform

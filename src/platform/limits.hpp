// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The limits of this process: by setrlimit() (`ulimit` of a shell), and by its control groups.
///
/// Thread safety  every call from any thread.

#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle::platform {

/// Returns the largest size of a file (RLIMIT_FSIZE), or the largest number without a limit.
std::size_t most_file_bytes() noexcept;
bool file_size_is_limited() noexcept;
/// Returns true if the address space has a limit (RLIMIT_AS).
bool addresses_are_limited() noexcept;

/// The resources that a caller needs, in bytes.
struct Wanted {
    std::uint64_t addresses = 0;  ///< address space
    std::uint64_t data = 0;       ///< the part of it that is private and writable
    std::uint64_t file = 0;       ///< size of a file
};
/// Returns a sentence that names the first limit below the need, with the need and the amount left.
/// Returns an empty text if no limit is.
std::string limit_that_forbids(const Wanted& wanted);

/// Returns the bytes of memory that the control groups (of either version) of this process allow.
/// Returns `otherwise` if that is less. `root` is the folder of /proc and /sys.
std::uint64_t memory_of_control_groups(std::uint64_t otherwise, const std::string& root = "");
/// Returns the bytes that one of `processes` equal processes on this machine, or in this container,
/// may fill.
std::uint64_t memory_of_process(std::size_t processes);

}  // namespace heddle::platform

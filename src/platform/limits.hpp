// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What this process may have at most: by setrlimit() (`ulimit` of a shell), and by its control groups.
///
/// Thread safety  every call from any thread.

#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle::platform {

/// The size that a file may be given; the largest there is without a limit (RLIMIT_FSIZE).
std::size_t most_file_bytes() noexcept;
bool file_size_is_limited() noexcept;
/// Whether the address space has a limit (RLIMIT_AS).
bool addresses_are_limited() noexcept;

/// What somebody is going to take, in bytes.
struct Wanted {
    std::uint64_t addresses = 0;  ///< of address space
    std::uint64_t data = 0;       ///< of private memory that may be written, among it
    std::uint64_t file = 0;       ///< the size of a file
};
/// A sentence that names the first limit which forbids that, with what is wanted and what is left of it;
/// empty: none does.
std::string limit_that_forbids(const Wanted& wanted);

/// Bytes of memory that the control groups of this process allow it and those with it, of either version;
/// `otherwise` if that is less. `root`: where /proc and /sys are looked for.
std::uint64_t memory_of_control_groups(std::uint64_t otherwise, const std::string& root = "");
/// Bytes of memory that one of `processes` of its kind on this machine, or in this container, may fill.
std::uint64_t memory_of_process(std::size_t processes);

}  // namespace heddle::platform

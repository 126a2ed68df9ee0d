// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Standard output as mpiexec sees it: by reference, through a pipe, while the program prints and after its death.
///
/// vmsplice() puts the pages of the program's memory into a pipe that mpiexec reads, and not what is in them.
/// So mpiexec finds there what the program has printed and not written yet, whatever has ended it, and
/// printing costs nothing more (docs/adr/0024-printed-and-not-written.md).
///
/// Record         the C library's stream (std::FILE), a PrintView, and the text behind it.
/// Valid          until the program forks: its pages are its child's then, and it gets new ones. It says so before.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace heddle::platform {

/// Names the pipe to a rank: DESCRIPTOR:INODE. The number alone may mean anything by the time it is used.
inline constexpr const char* print_pipe_variable = "HEDDLE_PRINT_FD";

/// Stands before the text.
struct PrintView {
    static constexpr std::uint64_t mark = 0x6865'6464'6c65'2024;
    static constexpr std::size_t bytes_with_text = 32768;

    std::uint64_t is = mark;
    std::atomic<std::uint64_t> over{0};  ///< not 0: nothing of this is true any more
    std::uint64_t text = 0;              ///< its address in the program
    std::uint64_t bytes = 0;             ///< room for so much
    std::uint64_t process = 0;           ///< its number, as it knows it
};

#ifdef __GLIBC__
inline constexpr std::size_t stream_bytes = sizeof(std::FILE);
#else
inline constexpr std::size_t stream_bytes = 0;  // what it is nobody knows, and nothing is looked at
#endif

/// What must be looked at to know how much text there is.
inline constexpr std::size_t print_head_bytes = stream_bytes + sizeof(PrintView);
inline constexpr std::size_t print_record_bytes = stream_bytes + PrintView::bytes_with_text;

}  // namespace heddle::platform

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Standard output as mpiexec sees it: by reference, through a pipe, while the program prints and
/// after its death.
///
/// vmsplice() puts pages of the program's memory, and not copies of their bytes, into a pipe that
/// mpiexec reads. So mpiexec finds text there that the program has printed and not written yet,
/// however the program ended. Printing costs nothing more
/// (docs/adr/0024-printed-and-not-written.md).
///
/// Record         the C library's stream (std::FILE), a PrintView, and then the text.
/// Valid          until the program forks: its pages are then its child's, and it gets new ones. It
///                says so before.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace heddle::platform {

/// The variable that names the pipe to a rank: DESCRIPTOR:INODE. The number alone may belong to
/// another file when it is used.
inline constexpr const char* print_pipe_variable = "HEDDLE_PRINT_FD";

/// The header before the text.
struct PrintView {
    static constexpr std::uint64_t mark = 0x6865'6464'6c65'2024;
    static constexpr std::size_t bytes_with_text = 32768;

    std::uint64_t is = mark;
    std::atomic<std::uint64_t> over{0};  ///< not 0 once the record is invalid
    std::uint64_t text = 0;              ///< the text's address in the program
    std::uint64_t bytes = 0;             ///< size of the text's buffer
    std::uint64_t process = 0;           ///< the process's own number
};

#ifdef __GLIBC__
inline constexpr std::size_t stream_bytes = sizeof(std::FILE);
#else
inline constexpr std::size_t stream_bytes = 0;  // its contents are unknown, and it is not looked at
#endif

/// The part that tells how much text there is.
inline constexpr std::size_t print_head_bytes = stream_bytes + sizeof(PrintView);
inline constexpr std::size_t print_record_bytes = stream_bytes + PrintView::bytes_with_text;

}  // namespace heddle::platform

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages of mpiexec to its user, and the exception by which set-up fails.
///
/// Every message is one line on standard error that starts with "mpiexec: ". It is written by one
/// write, so that it does not mix with the output of ranks.

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace heddle::mpiexec {

/// The exit codes of mpiexec itself. All others come from the ranks.
inline constexpr int exit_failed = 1;       ///< the job could not be started, or was not in order
inline constexpr int exit_usage = 2;        ///< the command line is wrong
inline constexpr int exit_timeout = 124;    ///< the code of timeout(1)
inline constexpr int exit_not_run = 126;    ///< the shell's code: found, but not executable
inline constexpr int exit_not_found = 127;  ///< the shell's code: no such program

/// The exception of set-up that cannot go on. what() is the message without the leading "mpiexec:
/// ".
struct Failure : std::runtime_error {
    Failure(int exit_code, const std::string& text) : std::runtime_error(text), code(exit_code) {}
    int code;
};

/// Writes all of `text` to `fd`. Returns false if it has no reader any more.
bool write_all(int fd, std::string_view text) noexcept;

/// Writes "mpiexec: `text`\n" to standard error.
void say(std::string_view text);

/// Returns `text` fit for a line: cut if it is long, with '?' for bytes that are no printable
/// ASCII.
std::string printable(std::string_view text);

/// Returns a text such as "SIGSEGV (segmentation fault)".
std::string signal_name(int signal);

/// Returns the text of an errno value, with a small first letter for use in a clause.
std::string error_text(int error);

}  // namespace heddle::mpiexec

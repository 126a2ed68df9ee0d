// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What mpiexec tells its user, and how set-up fails.
///
/// Every message is one line on standard error that starts with "mpiexec: " and leaves in one
/// write, so that it does not mix with what the ranks write there.

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace heddle::mpiexec {

/// Exit codes of mpiexec itself; all others come from the ranks.
inline constexpr int exit_failed = 1;       ///< the job could not be started, or was not in order
inline constexpr int exit_usage = 2;        ///< the command line is wrong
inline constexpr int exit_timeout = 124;    ///< as timeout(1)
inline constexpr int exit_not_run = 126;    ///< as the shell: found, but not executable
inline constexpr int exit_not_found = 127;  ///< as the shell: no such program

/// Set-up cannot go on. what() is the message without the leading "mpiexec: ".
struct Failure : std::runtime_error {
    Failure(int exit_code, const std::string& text) : std::runtime_error(text), code(exit_code) {}
    int code;
};

/// Writes all of `text` to `fd`; false when nobody can read it any more.
bool write_all(int fd, std::string_view text) noexcept;

/// Writes "mpiexec: `text`\n" to standard error.
void say(std::string_view text);

/// `text` as it can be shown in a line: cut where it is long, '?' for bytes that are no printable ASCII.
std::string printable(std::string_view text);

/// "SIGSEGV (segmentation fault)".
std::string signal_name(int signal);

/// The text of an errno value, in lower case where it starts a clause.
std::string error_text(int error);

}  // namespace heddle::mpiexec

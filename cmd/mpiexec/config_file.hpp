// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// -configfile FILE: a command line in a file.
///
/// Each line contains what may stand between two colons of the command line: options, a program,
/// its arguments. A line may also hold colons, or end in one. Words are separated by blanks. Quotes
/// and the backslash work as in the shell, and no other syntax of the shell does. '#' at the start
/// of a word begins a comment.

#include <string>
#include <vector>

namespace heddle::mpiexec {

/// Returns `words` with -configfile FILE replaced by the words of FILE. Throws Failure if a word
/// follows it.
std::vector<std::string> with_config_file(const std::vector<std::string>& words);

}  // namespace heddle::mpiexec

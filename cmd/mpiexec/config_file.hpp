// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// -configfile FILE: a command line in a file.
///
/// Each line is what may stand between two colons of the command line: options, a program, its arguments. A
/// line may also hold colons, or end in one. Words are separated by blanks; quotes and the backslash work
/// as in the shell, nothing else of it does. '#' at the start of a word begins a comment.

#include <string>
#include <vector>

namespace heddle::mpiexec {

/// `words` with -configfile FILE replaced by what FILE says, or Failure. Nothing may follow it.
std::vector<std::string> with_config_file(const std::vector<std::string>& words);

}  // namespace heddle::mpiexec

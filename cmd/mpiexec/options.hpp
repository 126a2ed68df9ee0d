// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The options of mpiexec: one table, from which come parsing, help and the nearest valid name. Those of other launchers
/// have a table of their own (foreign.hpp), which help leaves out.
///
/// Every option may be written with one or two dashes, and `--name=value` for `--name value`.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "job.hpp"

namespace heddle::mpiexec {

/// The state of parsing: the job so far, the program whose part is read.
struct Parsing {
    Job& job;
    Program& program;
    std::string_view option;  ///< as the user wrote it
    std::span<const std::string> values;
    std::string_view help;  ///< of the option's row
};

enum class Section { hidden, programs, environment, placement, streams, other };

struct Option {
    Section section;
    std::string_view names;   ///< without dashes, separated by blanks; the first is shown in errors
    std::string_view values;  ///< names of its values, separated by blanks
    std::string_view help;
    void (*apply)(const Parsing&);
};

std::span<const Option> option_table();

/// The option called `name` (without dashes), or nullptr.
const Option* find_option(std::string_view name);

/// How many words follow it, the first of which is `first` (empty: it is the last word).
std::size_t number_of_values(const Option& option, std::string_view first);

/// The valid name nearest to `name`, empty when none is near.
std::string nearest_option(std::string_view name);

/// A whole number in [low, high], or Failure naming `option`.
int whole_number(std::string_view option, std::string_view text, int low, int high);

/// A number of seconds above 0, or Failure naming `option`.
double seconds(std::string_view option, std::string_view text);

/// The job that a command line (without argv[0]) describes, or Failure. Prints and answers no job
/// (empty programs) for --help and --version.
Job parse_command_line(const std::vector<std::string>& arguments);

std::string help_text();

}  // namespace heddle::mpiexec

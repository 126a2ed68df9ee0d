// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The options of mpiexec: one table for parsing, help and the nearest valid name. Options of other
/// launchers have a table of their own (foreign.hpp), which help leaves out.
///
/// Every option may be written with one or two dashes, and `--name=value` for `--name value`.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "job.hpp"

namespace heddle::mpiexec {

/// The state of parsing: the job so far, and the program whose part is read.
struct Parsing {
    Job& job;
    Program& program;
    std::string_view option;  ///< as the user wrote it
    std::span<const std::string> values;
    std::string_view help;  ///< the text in the option's row
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

/// Returns the option called `name` (without dashes), or nullptr.
const Option* find_option(std::string_view name);

/// Returns how many words follow the option. `first` is the first of them, empty if the option is
/// the last word.
std::size_t number_of_values(const Option& option, std::string_view first);

/// Returns the valid name nearest to `name`, or an empty text if none is near.
std::string nearest_option(std::string_view name);

/// Returns a whole number in [low, high], or throws Failure naming `option`.
int whole_number(std::string_view option, std::string_view text, int low, int high);

/// Returns a number of seconds above 0, or throws Failure naming `option`.
double seconds(std::string_view option, std::string_view text);

/// Returns the job that a command line (without argv[0]) describes, or throws Failure. For --help
/// and --version it prints, and returns a job without programs.
Job parse_command_line(const std::vector<std::string>& arguments);

std::string help_text();

}  // namespace heddle::mpiexec

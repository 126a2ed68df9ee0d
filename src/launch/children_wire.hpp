// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages between a process that starts children and its mpiexec.
///
/// Down           a description of everything to be started, in a file without a name, which
///                mpiexec has when it starts. Then, over the control socket, `release_word`,
///                perhaps. The end of the socket means that the parent has gone.
/// Up             records over the control socket (SOCK_SEQPACKET), one for each report.
/// Versions       are compared before anything else is read: the two may come from different
///                installations.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/children.hpp"

namespace heddle::launch {

inline constexpr const char* parent_variable = "HEDDLE_PARENT";
/// Options of mpiexec that also concern the children of its ranks: a list of words.
inline constexpr const char* spawn_options_variable = "HEDDLE_SPAWN_OPTIONS";

/// The descriptors of mpiexec --children.
inline constexpr int control_descriptor = 3;
inline constexpr int description_descriptor = 4;
inline constexpr int parent_descriptor = 5;  ///< a pidfd of the parent, or nothing

inline constexpr char release_word = 'R';
inline constexpr std::size_t longest_report = 4096;

/// The commands, each with the number of processes to be started.
struct Description {
    struct One {
        int processes = 1;
        std::vector<std::string> command;  ///< program and arguments
        InfoPairs info;
    };
    std::string parent;  ///< the value of HEDDLE_PARENT
    std::vector<One> commands;
    std::vector<std::string> without_effect;  ///< info keys that the user is told about
};

std::string write_description(const Description& description);
/// Returns nothing if the text is not of this version, or is cut off.
std::optional<Description> read_description(std::string_view bytes);

/// Writes a report. A reason that is too long is cut.
std::string write_report(const ChildReport& report);
std::optional<ChildReport> read_report(std::string_view record);

}  // namespace heddle::launch

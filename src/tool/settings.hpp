// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The settings of the library: one member for each KNOB line of tool/all.def.
///
/// HEDDLE_NAME in the environment sets member `name`. A value written through MPI_T before MPI_Init
/// replaces it. A process reads both when it starts, and its settings do not change then.

#include <cstdint>
#include <string>

#include "tool/knob_types.hpp"
#include "tool/recipe.hpp"

namespace heddle::tool {

/// The limit on eager messages. Longer ones would not fit into a ring together with others.
inline constexpr std::uint64_t most_eager_bytes = 8192;
using EagerBytes = Bytes<0, most_eager_bytes>;
inline constexpr std::uint64_t most_payload_ring = std::uint64_t{4} << 20;
using PayloadBytes = Bytes<0, most_payload_ring>;
using MemoryLimit = Bytes<0, std::uint64_t{1} << 50>;

enum class SingleCopy : std::uint8_t { automatic, always, never };
inline constexpr const char* single_copy_names[] = {"auto", "always", "never"};
template <>
inline constexpr std::span<const char* const> spelled<SingleCopy> = single_copy_names;

/// The processor's row of platform/copy_table.hpp, or one of its rows, in their order.
enum class Copies : std::uint8_t { automatic, generic, amd_25, amd_26, intel_6_167 };
inline constexpr const char* copies_names[] = {"auto", "generic", "amd_25", "amd_26",
                                               "intel_6_167"};
template <>
inline constexpr std::span<const char* const> spelled<Copies> = copies_names;

/// The values of the launcher's -initial-errhandler (MPI 5.0, 11.5).
enum class InitialErrhandler : std::uint8_t { fatal, abort, give_back };
inline constexpr const char* initial_errhandler_names[] = {"mpi_errors_are_fatal",
                                                           "mpi_errors_abort", "mpi_errors_return"};
template <>
inline constexpr std::span<const char* const> spelled<InitialErrhandler> = initial_errhandler_names;

enum class Stamps : std::uint8_t { automatic, ticks, counter };
inline constexpr const char* stamps_names[] = {"auto", "ticks", "counter"};
template <>
inline constexpr std::span<const char* const> spelled<Stamps> = stamps_names;

struct Settings {
    using SingleCopy = tool::SingleCopy;
    // NOLINTNEXTLINE(bugprone-macro-parentheses): the type is one.
#define KNOB(type, name, standard, doc) type::Value name = standard;
#include "tool/all.def"
};

/// Throws std::runtime_error that names the variable, its value, and the allowed values.
Settings settings_for_start();

}  // namespace heddle::tool

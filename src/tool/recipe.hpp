// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What a recipe is made of: the designs of "Give MPI Threading a Fair Chance" (P1), "Lock Contention
/// Management in Multithreaded MPI" (P2) and "Toward Efficient Support for Multithreaded MPI
/// Communication" (P3), each a choice of a knob (tool/laboratory.def). The first choices of all make
/// the default recipe.

#include <cstddef>
#include <cstdint>

#include "tool/knob_types.hpp"

namespace heddle::tool {

struct Settings;

enum class InstanceCount : std::uint8_t { automatic, one, two, four, eight, sixteen, thirty_two, sixty_four };
inline constexpr const char* instance_count_names[] = {"auto", "1", "2", "4", "8", "16", "32", "64"};
template <>
inline constexpr std::span<const char* const> spelled<InstanceCount> = instance_count_names;
/// How many that are; 0: automatic.
constexpr std::size_t number_of(InstanceCount count) noexcept {
    return std::size_t{1} << static_cast<int>(count) >> 1;
}

enum class Assignment : std::uint8_t { tag, communicator, dedicated, round_robin };
inline constexpr const char* assignment_names[] = {"tag", "communicator", "dedicated", "round-robin"};
template <>
inline constexpr std::span<const char* const> spelled<Assignment> = assignment_names;
/// Whether the sender chooses the instance by itself, so that the order of messages has to be restored.
constexpr bool needs_sequence(Assignment assignment) noexcept { return assignment >= Assignment::dedicated; }

enum class ProgressStrategy : std::uint8_t { concurrent, serial };
inline constexpr const char* progress_strategy_names[] = {"concurrent", "serial"};
template <>
inline constexpr std::span<const char* const> spelled<ProgressStrategy> = progress_strategy_names;

/// Whether waiting and sending leave the paths of the default recipe.
bool in_laboratory(const Settings& settings) noexcept;

/// What ranks of a job must agree on, as a number that is not 0; print_agreement() names it.
std::uint32_t agreement(const Settings& settings) noexcept;
std::string print_agreement(std::uint32_t agreement);

}  // namespace heddle::tool

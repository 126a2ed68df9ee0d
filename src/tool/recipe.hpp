// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The parts of a recipe. Each is a choice of a knob (tool/laboratory.def). The first choices of
/// all make the default recipe. The designs are those of three papers:
///
/// P1  "Give MPI Threading a Fair Chance".
/// P2  "Lock Contention Management in Multithreaded MPI".
/// P3  "Fine-Grained Multithreading Support for Hybrid Threaded MPI Programming".

#include <cstddef>
#include <cstdint>
#include <string>

#include "tool/knob_types.hpp"

namespace heddle::tool {

struct Settings;

enum class InstanceCount : std::uint8_t {
    automatic,
    one,
    two,
    four,
    eight,
    sixteen,
    thirty_two,
    sixty_four
};
inline constexpr const char* instance_count_names[] = {"auto", "1",  "2",  "4",
                                                       "8",    "16", "32", "64"};
template <>
inline constexpr std::span<const char* const> spelled<InstanceCount> = instance_count_names;
/// Returns the number, or 0 for automatic.
constexpr std::size_t number_of(InstanceCount count) noexcept {
    return std::size_t{1} << static_cast<int>(count) >> 1;
}

enum class Assignment : std::uint8_t { tag, communicator, dedicated, round_robin };
inline constexpr const char* assignment_names[] = {"tag", "communicator", "dedicated",
                                                   "round-robin"};
template <>
inline constexpr std::span<const char* const> spelled<Assignment> = assignment_names;
/// Returns true if the sender alone chooses the instance, so that the order of messages must be
/// restored.
constexpr bool needs_sequence(Assignment assignment) noexcept {
    return assignment >= Assignment::dedicated;
}

enum class ProgressStrategy : std::uint8_t { concurrent, serial };
inline constexpr const char* progress_strategy_names[] = {"concurrent", "serial"};
template <>
inline constexpr std::span<const char* const> spelled<ProgressStrategy> = progress_strategy_names;

/// In the order of match/all.hpp, which has the engines.
enum class MatcherName : std::uint8_t { hash };
inline constexpr const char* matcher_names[] = {"hash", "list", "source"};
template <>
inline constexpr std::span<const char* const> spelled<MatcherName> = matcher_names;

enum class Granularity : std::uint8_t { lock_free, global, brief_global, per_object };
inline constexpr const char* granularity_names[] = {"lock-free", "global", "brief-global",
                                                    "per-object"};
template <>
inline constexpr std::span<const char* const> spelled<Granularity> = granularity_names;

/// In the order of sync/locks/all.hpp, which has the locks.
enum class LockProtocol : std::uint8_t { mutex };
inline constexpr const char* lock_protocol_names[] = {
    "mutex",          "ticket",        "mcs",           "hmcs",           "p-mutex-mutex",
    "p-mutex-ticket", "p-mutex-mcs",   "p-mutex-hmcs",  "p-ticket-mutex", "p-ticket-ticket",
    "p-ticket-mcs",   "p-ticket-hmcs", "p-mcs-mutex",   "p-mcs-ticket",   "p-mcs-mcs",
    "p-mcs-hmcs",     "p-hmcs-mutex",  "p-hmcs-ticket", "p-hmcs-mcs",     "p-hmcs-hmcs"};
template <>
inline constexpr std::span<const char* const> spelled<LockProtocol> = lock_protocol_names;

enum class RequestPools : std::uint8_t { thread, common };
inline constexpr const char* request_pools_names[] = {"thread", "common"};
template <>
inline constexpr std::span<const char* const> spelled<RequestPools> = request_pools_names;

enum class ReferenceCounts : std::uint8_t { atomic, locked };
inline constexpr const char* reference_counts_names[] = {"atomic", "locked"};
template <>
inline constexpr std::span<const char* const> spelled<ReferenceCounts> = reference_counts_names;

/// Returns why the settings contradict each other, or an empty text if they do not.
std::string contradiction(const Settings& settings);

/// Returns true if matching must leave its short paths, for another engine or an observer.
bool matching_is_watched(const Settings& settings) noexcept;

/// Returns true if waiting and sending leave the paths of the default recipe.
bool in_laboratory(const Settings& settings) noexcept;

/// Abilities beyond the bare protocols. The default recipe has all of them. A recipe of the
/// laboratory has none: it does what the papers describe, nothing else. Code asks for the ability
/// that it needs, not for the recipe.
struct Features {
    bool fast_paths;     ///< messages and accesses to windows have short paths beside the full ones
    bool free_windows;   ///< operations on windows hold no instance, and are gathered
    bool homes;          ///< some contexts have one instance each (p2p/homes.hpp)
    bool payload_rings;  ///< large payloads are streamed through rings
    bool shared_scratch;  ///< collectives use memory of the node, and levels over nodes
    bool sleep;           ///< threads that wait sleep in the end, after polls for all threads
    bool workers;         ///< the library has threads that make progress and access files
    bool other_nodes;     ///< processes of other nodes and jobs are reached
};
Features features_of(const Settings& settings) noexcept;

/// Returns the settings that ranks of a job must agree on, as a number that is not 0.
/// print_agreement() names it.
std::uint64_t agreement(const Settings& settings) noexcept;
std::string print_agreement(std::uint64_t agreement);

}  // namespace heddle::tool

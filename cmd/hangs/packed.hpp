// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The facts about a rank as bytes, for mpiexec on another host. Both ends are the same version of
/// mpiexec, on processors with equal formats of numbers. `packed_layout` is equal then, and must be
/// compared first.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "snapshot.hpp"

namespace heddle::hangs {

inline constexpr std::uint64_t packed_layout = node::board_magic * 1'000'003 +
    sizeof(node::WaitsFor) * 1'009 + sizeof(Rank) * 31 + sizeof(Thread);

std::string packed(const Rank& rank);

/// Returns nothing if these are not the bytes of a rank.
std::optional<Rank> unpacked(std::string_view bytes);

}  // namespace heddle::hangs

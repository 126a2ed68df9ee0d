// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What the environment says about how the library works (HEDDLE_*).

#include <cstdint>

namespace heddle::tool {

/// A longer message would not fit into a ring together with others.
inline constexpr std::uint64_t most_eager_bytes = 8192;

struct Settings {
    /// HEDDLE_EAGER_LIMIT, bytes: longer messages stay with the sender until they are matched.
    std::uint64_t eager_limit = most_eager_bytes;

    /// HEDDLE_SINGLE_COPY: whether such a message is read out of the sender's memory (always), piped
    /// through shared memory (never), or takes the way that turns out faster here (auto).
    enum class SingleCopy { automatic, always, never } single_copy = SingleCopy::automatic;
};

/// Throws std::runtime_error that names the variable and the values that it may have.
Settings settings_from_environment();

}  // namespace heddle::tool

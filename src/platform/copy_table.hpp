// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The methods by which payload is copied (platform/copy.hpp), by kind of processor.
///
/// Row       of a kind of processor. Its values are measured (bench/results/messages.md). A wrong
///           one costs time, never bytes. A processor without a row has the generic one.
/// Distance  of two cores: whether lines that one has stored come to the other from a cache that
///           both share. Processes move between cores. node/distance.hpp estimates it.

#include <atomic>
#include <cstdint>
#include <span>

#include "platform/copy.hpp"

namespace heddle::platform {

enum class Distance : std::uint8_t { near, far };

struct CopyRow {
    const char* name;            ///< the value of HEDDLE_COPIES that forces it
    const char* processor;       ///< for users
    Copy store_near, store_far;  ///< into a ring of payload, for a consumer at that distance
    Copy load;                   ///< out of memory that another process has written
    Copy load_long;              ///< of a message that is too long to stay in a cache
    /// Whether rings of payload are walked whole for short messages, too (node/payload_ring.hpp).
    bool walks_whole;

    Copy store(Distance distance) const noexcept {
        return distance == Distance::near ? store_near : store_far;
    }
};

/// Returns all rows. The first one is the generic one.
std::span<const CopyRow> copy_rows() noexcept;
/// Returns the row of the processor that runs the calling thread.
const CopyRow& copy_row_of_processor() noexcept;

namespace detail {
extern std::atomic<const CopyRow*> copy_row;
}

/// Returns the row in use: the generic one until use_copy_row(). Thread safety: any thread.
inline const CopyRow& copy_row() noexcept {
    return *detail::copy_row.load(std::memory_order_relaxed);
}
inline void use_copy_row(const CopyRow& row) noexcept {
    detail::copy_row.store(&row, std::memory_order_relaxed);
}

}  // namespace heddle::platform

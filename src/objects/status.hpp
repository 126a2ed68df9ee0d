// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The content of an MPI_Status. MPI_internal carries the bytes received and whether it was
/// cancelled.

#include <cstdint>
#include <cstring>

#include "core/request.hpp"
#include "mpi.h"

namespace heddle::objects {

/// Returns whether there is a status to write to.
inline bool is_wanted(const MPI_Status* status) noexcept { return status != MPI_STATUS_IGNORE; }

/// Sets everything but MPI_ERROR, which only calls that complete several requests set (MPI 5.0,
/// 3.2.5).
inline void set_status(MPI_Status* status, std::int32_t source, std::int32_t tag,
                       std::uint64_t bytes, bool cancelled) noexcept {
    if (!is_wanted(status)) return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    std::memcpy(status->MPI_internal, &bytes, sizeof bytes);
    status->MPI_internal[2] = cancelled;
}

inline void set_status(MPI_Status* status, const core::Outcome& outcome) noexcept {
    set_status(status, outcome.source, outcome.tag, outcome.bytes, outcome.cancelled);
}

/// Sets the status of no operation: an inactive or null request, a send.
inline void set_empty_status(MPI_Status* status) noexcept {
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
    if (is_wanted(status)) status->MPI_ERROR = MPI_SUCCESS;
}

/// Sets the status of a receive from MPI_PROC_NULL.
inline void set_null_status(MPI_Status* status) noexcept {
    set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
}

inline std::uint64_t bytes_of(const MPI_Status& status) noexcept {
    std::uint64_t bytes;
    std::memcpy(&bytes, status.MPI_internal, sizeof bytes);
    return bytes;
}

inline void set_bytes(MPI_Status& status, std::uint64_t bytes) noexcept {
    std::memcpy(status.MPI_internal, &bytes, sizeof bytes);
}

inline void set_cancelled(MPI_Status& status, bool cancelled) noexcept {
    status.MPI_internal[2] = cancelled;
}
inline bool cancelled(const MPI_Status& status) noexcept { return status.MPI_internal[2] != 0; }

}  // namespace heddle::objects

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Kinds of arguments of one-sided communication (see arguments.hpp). Ranks are those of the
/// window's group.

#include <cstdint>
#include <string>

#include "api/collective_arguments.hpp"
#include "api/object_arguments.hpp"
#include "rma/access.hpp"

namespace heddle::api {

/// A rank of a target. MPI_PROC_NULL is allowed: nothing happens.
struct TargetRank {
    static constexpr const char* name = "target_rank";
    std::int32_t rank;

    TargetRank(Process&, int raw) noexcept : rank(raw) {}
    bool null() const noexcept { return rank == MPI_PROC_NULL; }
    int error(const Communicator* group) const noexcept {
        if (is_rank(rank, group)) [[likely]]
            return MPI_SUCCESS;
        return null() ? MPI_SUCCESS : MPI_ERR_RANK;
    }
    std::string wrong(const Communicator* group) const {
        return "rank " + std::to_string(rank) +
            " is not in the window's group, which has ranks 0 to " +
            std::to_string(group->peers - 1);
    }
};
/// A rank of a target, without MPI_PROC_NULL.
struct LockedRank : TargetRank {
    static constexpr const char* name = "rank";
    using TargetRank::TargetRank;
    int error(const Communicator* group) const noexcept {
        return is_rank(rank, group) ? MPI_SUCCESS : MPI_ERR_RANK;
    }
    std::string wrong(const Communicator* group) const {
        return null() ? "MPI_PROC_NULL" : TargetRank::wrong(group);
    }
};

struct Displacement {
    static constexpr const char* name = "target_disp";
    std::int64_t value;

    Displacement(const auto&, MPI_Aint raw) noexcept : value(raw) {}
    int error(const Communicator*) const noexcept { return MPI_SUCCESS; }
    std::string wrong(const Communicator*) const { return {}; }
};

/// Assertions. A call allows those that it knows.
template <int allowed>
struct Assertion {
    static constexpr const char* name = "assert";
    int value;

    Assertion(const auto&, int raw) noexcept : value(raw) {}
    int error(const Communicator*) const noexcept {
        return (value & ~allowed) == 0 ? MPI_SUCCESS : MPI_ERR_ASSERT;
    }
    std::string wrong(const Communicator*) const {
        return std::to_string(value) + " is more than assertions that this call knows";
    }
};

HEDDLE_NAMED(OriginBuffer, SendBuffer, "origin_addr")
HEDDLE_NAMED(OriginRoom, ReceiveBuffer, "origin_addr")
HEDDLE_NAMED(ResultBuffer, ReceiveBuffer, "result_addr")
HEDDLE_NAMED(OriginCount, Count, "origin_count")
HEDDLE_NAMED(RmaResultCount, Count, "result_count")
HEDDLE_NAMED(TargetCount, Count, "target_count")
HEDDLE_NAMED(OriginType, Type, "origin_datatype")
HEDDLE_NAMED(RmaResultType, Type, "result_datatype")
HEDDLE_NAMED(TargetType, Type, "target_datatype")

}  // namespace heddle::api

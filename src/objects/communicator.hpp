// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A communicator (MPI 5.0, 7): who takes part, and a context that keeps its messages apart.

#include <cstdint>
#include <map>
#include <string>

#include "core/object.hpp"
#include "objects/errhandler.hpp"
#include "objects/group.hpp"

namespace heddle::objects {

/// Context ids come in pairs: an even one for point-to-point, the odd one after it for collectives.
inline constexpr std::uint32_t library_context = 0;  ///< of the library itself (MPI_Finalize)
inline constexpr std::uint32_t world_context = 2;
inline constexpr std::uint32_t self_context = 4;
inline constexpr std::uint32_t first_free_context = 6;

/// Assertions of the user (MPI 5.0, 7.4.4), as info keys mpi_assert_*.
struct Hints {
    bool no_any_tag = false;        ///< receives never use MPI_ANY_TAG
    bool no_any_source = false;     ///< receives never use MPI_ANY_SOURCE
    bool exact_length = false;      ///< messages have the length of their receives
    bool allow_overtaking = false;  ///< messages may be matched in any order
};

/// Fields above the line are read by every message, and written only while the communicator is made.
struct Communicator : core::Object {
    std::uint32_t context = 0;      ///< of point-to-point; collectives use context + 1
    std::int32_t rank = 0;          ///< of this process, in the local group
    std::int32_t peers = 0;         ///< size of the group that messages go to (the remote one, if any)
    const std::int32_t* processes = nullptr;  ///< rank in that group -> rank in the world
    Hints hints;
    // ----
    Communicator* next = nullptr;
    Group* group = nullptr;         ///< local group, counted
    Group* remote = nullptr;        ///< of an intercommunicator, counted; nullptr: intracommunicator
    Errhandler* errhandler = nullptr;  ///< counted
    MPI_Comm handle = MPI_COMM_NULL;   ///< what the user calls it
    std::string name;
    std::map<int, void*> attributes;   ///< keyval -> value, guarded by the process's set-up lock
    std::map<std::string, std::string> info;  ///< hints in effect, guarded likewise
    std::uint32_t collectives = 0;  ///< collective calls so far: their tags, one thread at a time

    std::int32_t size() const noexcept { return group->size(); }
};

}  // namespace heddle::objects

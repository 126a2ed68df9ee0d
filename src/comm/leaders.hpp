// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Introduces two groups to each other that know only their leaders (MPI 5.0, 7.6.2).
///
/// The leaders tell each other the members of their groups and the context that they offer. Then
/// each tells its own group. The context is the one offered by the leader with the lower rank in
/// the world. Nothing else needs to be agreed on. Each process waits only for its leader, and the
/// leaders wait for each other.
///
/// Errors         a leader alone can find certain errors in its own arguments. It tells its group,
///                so that all of a group fail. The remote leader is not told. Mostly the wrong
///                argument is the one that names it. Besides, it would take an unexpected message
///                for the answer to its next call. It waits, as for any call that is not made yet,
///                and goes on when the group calls again.

#include <cstdint>
#include <memory>

#include "comm/agreement.hpp"
#include "core/thread.hpp"
#include "mpi.h"
#include "objects/communicator.hpp"

namespace heddle::comm {

/// The route of a leader to the other one.
struct Route {
    /// nullptr if there is none, and `error` was raised.
    objects::Communicator* for_errors = nullptr;
    std::uint32_t context = 0;
    std::int32_t tag = 0;
    std::int32_t my_source = 0;
    std::int32_t their_source = 0;
    std::int32_t process = 0;  ///< the number of the other leader
    int error = 0;
    /// Keeps a process of another job that is in no group (comm/letters.hpp).
    std::shared_ptr<void> pin{};
};

/// Returns a route through a communicator that both are in, with the user's tag. The other leader
/// has rank `leader` there.
Route through(objects::Communicator& peer, std::int32_t leader, std::int32_t tag) noexcept;

/// The result if the other leader, of another job, is gone. No error has been raised, and all of
/// the group know it.
inline constexpr int leader_is_gone = -1;
int try_to_introduce(core::Thread& thread, const Participants& participants,
                     std::int32_t local_leader, const Route& route, Part& part,
                     int error_class = MPI_ERR_OTHER);
/// Finds the other group and the context. `participants` are the caller's own group. `route` counts
/// at the leader only.
int introduce(core::Thread& thread, const Participants& participants, std::int32_t local_leader,
              const Route& route, Part& part);

}  // namespace heddle::comm

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How two groups that know nothing of each other but their leaders find together (MPI 5.0, 7.6.2).
///
/// The leaders tell each other who is in their groups and which context they offer; each then tells its
/// own group. The context is the one offered by the leader with the lower rank in the world: nothing else
/// needs to be agreed on, and nobody waits for anyone but his leader, and the leaders for each other.
///
/// Errors         what only a leader can find wrong in its own arguments, it tells its group, so that all of
///                a group fail. The remote leader is not told: what is wrong is mostly who that is, and a
///                word that comes unasked for would be taken for the answer to the next call. It waits, as
///                for any call that is not made yet, and goes on when the group calls again.

#include <cstdint>
#include <memory>

#include "comm/agreement.hpp"
#include "core/thread.hpp"
#include "mpi.h"
#include "objects/communicator.hpp"

namespace heddle::comm {

/// How a leader reaches the other one.
struct Route {
    objects::Communicator* for_errors =
        nullptr;  ///< nullptr: there is none, and `error` was raised
    std::uint32_t context = 0;
    std::int32_t tag = 0;
    std::int32_t my_source = 0;
    std::int32_t their_source = 0;
    std::int32_t process = 0;  ///< the other leader, by its number
    int error = 0;
    std::shared_ptr<void>
        pin{};  ///< of a process of another job that is in no group (comm/letters.hpp)
};

/// Through a communicator that both are in, where the other leader has rank `leader`, with the user's tag.
Route through(objects::Communicator& peer, std::int32_t leader, std::int32_t tag) noexcept;

/// Answered where the other leader, of another job, is gone: no error has been raised, and all of the group know it.
inline constexpr int leader_is_gone = -1;
int try_to_introduce(core::Thread& thread, const Participants& participants,
                     std::int32_t local_leader, const Route& route, Part& part,
                     int error_class = MPI_ERR_OTHER);
/// The other group and the context. `participants` are the caller's own group; `route` counts at the leader only.
int introduce(core::Thread& thread, const Participants& participants, std::int32_t local_leader,
              const Route& route, Part& part);

}  // namespace heddle::comm

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How two groups that know nothing of each other but their leaders find together (MPI 5.0, 7.6.2).
///
/// The leaders tell each other who is in their groups and which context they offer, through the
/// communicator that both are in; each then tells its own group. The context is the one offered by the
/// leader with the lower rank in the world: nothing else needs to be agreed on, and nobody waits for anyone
/// but his leader, and the leaders for each other. What only a leader can find wrong, it tells its group,
/// so that all of a group fail.

#include <cstdint>

#include "core/thread.hpp"
#include "objects/communicator.hpp"
#include "p2p/agreement.hpp"

namespace heddle::p2p {

/// What a leader brings along.
struct Introduction {
    objects::Communicator* peer = nullptr;  ///< nullptr: the arguments were wrong, `error` was raised
    std::int32_t remote_leader = 0;         ///< in `peer`
    std::int32_t tag = 0;                   ///< of the user, at least 0
    int error = 0;
};

/// The other group and the context; part.local stays as it is. `introduction`: at the leader only.
int introduce(core::Thread& thread, objects::Communicator& local, std::int32_t local_leader,
              const Introduction& introduction, Part& part);

}  // namespace heddle::p2p

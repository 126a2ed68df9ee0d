// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Makes communicators: the processes that will share one agree on it (MPI 5.0, 7.4).
///
/// One of them chooses the context. (objects/contexts.hpp says why nothing more is needed.) Here
/// its choice travels among the participants of the parent (comm/participants.hpp). No lock is held
/// meanwhile.
///
/// Between jobs   the first member proposes a context. All members reserve it if they have not got
///                it in use, and tell the others the result. If one could not, the others give it
///                back, and the next one is proposed. Meanwhile each member waits only for answers
///                of the members. So calls of several threads cannot block each other.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/participants.hpp"
#include "core/thread.hpp"
#include "objects/communicator.hpp"

namespace heddle::comm {

/// Tags in the collective context of the parent. One call after another uses the same tags, since
/// messages between two processes stay in order. MPI_Comm_create_group may run in several threads
/// at once. The user's tag, as a negative number, tells these calls apart.
enum AgreementTag : std::int32_t {
    dup_agreement = 1000,
    split_agreement,
    create_agreement,
    idup_agreement,
    last_group_agreement,  ///< for the user's tag whose number would be a wildcard
    intercomm_agreement,
    merge_agreement,
    stage_agreement,
    window_agreement,
    file_agreement,
    spawn_agreement,
    disconnect_agreement,
};
std::int32_t create_group_agreement(std::int32_t users_tag) noexcept;

/// Agrees on the context of a new communicator of `members` (places of participants, by new rank).
/// The caller is number `me` of them. Raises an error if no context is left.
int agree_on_context(core::Thread& thread, const Participants& participants,
                     std::span<const std::int32_t> members, std::int32_t me, std::int32_t tag,
                     std::uint32_t& context);

/// Does the same for all participants, without waiting: `made` has its context when the request is
/// complete. Between jobs it waits, and returns a request that is complete.
int start_to_agree(core::Thread& thread, const Participants& participants,
                   objects::Communicator& made, core::Request*& request);

/// Proposes a context of the first member. `reserved` tells whether all members have reserved it;
/// otherwise none has it. `context` receives it.
int reserve_between_jobs(core::Thread& thread, const Participants& participants,
                         std::span<const std::int32_t> members, std::int32_t me, std::int32_t tag,
                         std::uint32_t& context, bool& reserved);

/// Waits until all participants of a communicator between jobs have come, except lost ones. Then
/// the messages of the others are there.
void leave_together(core::Thread& thread, objects::Communicator& communicator);

/// The caller's part of a split. Processes are given by their numbers.
struct Part {
    objects::Members local;   ///< the caller's group; empty: there is no communicator
    objects::Members remote;  ///< the other group of an intercommunicator
    std::uint32_t context = 0;
    /// Keeps processes of other jobs that are in no group yet (comm/letters.hpp).
    std::shared_ptr<void> pin{};
};
/// Makes the part of the processes with the caller's color, which may be MPI_UNDEFINED, by (key,
/// rank). An intercommunicator has no part without processes of both groups.
int split(core::Thread& thread, const Participants& participants, std::int32_t color,
          std::int32_t key, Part& part);

/// Makes the part with the processes of both groups of an intercommunicator. The group that passes
/// `high` comes later.
int merge(core::Thread& thread, const Participants& participants, bool high, Part& part);

}  // namespace heddle::comm

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Making communicators: what the processes that will share one tell each other (MPI 5.0, 7.4).
///
/// One of them chooses the context (objects/contexts.hpp says why nothing more is needed); here its choice
/// travels among the participants of the parent (comm/participants.hpp). No lock is held meanwhile.
///
/// Between jobs   the first member proposes a context, all of them reserve it if they have not got it in use, and say so. When
///                one could not, the others give it back, and the next one is proposed. Nobody waits for anybody meanwhile
///                but for his members' answers, so that calls of several threads cannot block each other.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/participants.hpp"
#include "core/thread.hpp"
#include "objects/communicator.hpp"

namespace heddle::comm {

/// Tags in the collective context of the parent. One call after another uses the same: messages
/// between two processes stay in order. MPI_Comm_create_group may run in several threads at once,
/// which the user's tag tells apart, as a negative number.
enum AgreementTag : std::int32_t {
    dup_agreement = 1000,
    split_agreement,
    create_agreement,
    idup_agreement,
    last_group_agreement,  ///< for the one tag whose number would be a wildcard
    intercomm_agreement,
    merge_agreement,
    stage_agreement,
    window_agreement,
    file_agreement,
    spawn_agreement,
    disconnect_agreement,
};
std::int32_t create_group_agreement(std::int32_t users_tag) noexcept;

/// The context of a new communicator of `members` (places of participants, by new rank), of whom the
/// caller is number `me`. Raises an error if there is none left.
int agree_on_context(core::Thread& thread, const Participants& participants,
                     std::span<const std::int32_t> members, std::int32_t me, std::int32_t tag,
                     std::uint32_t& context);

/// The same for all participants, without waiting: `context`, which must stay where it is, is
/// there when the request is complete. Between jobs it waits, and answers a request that is complete.
int start_to_agree(core::Thread& thread, const Participants& participants, std::uint32_t& context,
                   core::Request*& request);

/// Whether all members have reserved the context that their first one proposes, and put there; nobody has it otherwise.
int reserve_between_jobs(core::Thread& thread, const Participants& participants,
                         std::span<const std::int32_t> members, std::int32_t me, std::int32_t tag,
                         std::uint32_t& context, bool& reserved);

/// Waits until all participants of a communicator between jobs have come, those left out that are lost: what others have sent
/// is there then.
void leave_together(core::Thread& thread, objects::Communicator& communicator);

/// What a split makes for the caller. Processes by their numbers.
struct Part {
    objects::Members local;   ///< of the caller's group; empty: there is no communicator
    objects::Members remote;  ///< of the other group, of an intercommunicator
    std::uint32_t context = 0;
    std::shared_ptr<void>
        pin{};  ///< of processes of other jobs that are in no group yet (comm/letters.hpp)
};
/// Those with the caller's color, which may be MPI_UNDEFINED, by (key, rank). In an intercommunicator
/// there is no part without processes of both groups.
int split(core::Thread& thread, const Participants& participants, std::int32_t color,
          std::int32_t key, Part& part);

/// The processes of both groups of an intercommunicator, of which those that say `high` come later.
int merge(core::Thread& thread, const Participants& participants, bool high, Part& part);

}  // namespace heddle::comm

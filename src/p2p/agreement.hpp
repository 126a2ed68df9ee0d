// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Making communicators: what the processes that will share one tell each other (MPI 5.0, 7.4).
///
/// The first member chooses the context (objects/contexts.hpp says why nothing more is needed); here
/// its choice travels, in the collective context of the parent, with tags that collectives do not use.
/// No lock is held meanwhile.

#include <cstdint>
#include <span>
#include <vector>

#include "core/thread.hpp"
#include "objects/communicator.hpp"

namespace heddle::p2p {

/// Tags in the collective context of the parent. One call after another uses the same: messages
/// between two processes stay in order. MPI_Comm_create_group may run in several threads at once,
/// which the user's tag tells apart, as a negative number.
enum AgreementTag : std::int32_t {
    dup_agreement = 1000,
    split_agreement,
    create_agreement,
    idup_agreement,
    last_group_agreement,  ///< for the one tag whose number would be a wildcard
};
std::int32_t create_group_agreement(std::int32_t users_tag) noexcept;

/// The context of a new communicator of `members` (ranks in the parent, by new rank), of whom the
/// caller is number `me`. Raises an error if there is none left.
int agree_on_context(core::Thread& thread, objects::Communicator& parent,
                     std::span<const std::int32_t> members, std::int32_t me, std::int32_t tag,
                     std::uint32_t& context);

/// The same for everyone in the parent, without waiting: `context`, which must stay where it is, is
/// there when the request is complete.
int start_to_agree(core::Thread& thread, objects::Communicator& parent, std::uint32_t& context,
                   core::Request*& request);

/// What each process gives in a split, and who is with the caller.
struct SplitChoice {
    std::int32_t color;  ///< or MPI_UNDEFINED
    std::int32_t key;
    std::uint32_t context;  ///< used if it becomes the first member
};
/// Ranks in the parent of those with the caller's color, by (key, rank), and the context of the first.
int split(core::Thread& thread, objects::Communicator& parent, std::int32_t color, std::int32_t key,
          std::vector<std::int32_t>& members, std::uint32_t& context);

}  // namespace heddle::p2p

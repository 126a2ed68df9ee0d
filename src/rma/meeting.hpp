// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages between the processes of a window, in its own context.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/thread.hpp"
#include "objects/communicator.hpp"
#include "p2p/operations.hpp"

namespace heddle::rma {

/// Tags in the collective context of a window's communicator. No collective and no agreement uses
/// them.
enum MessageTag : std::int32_t {
    barrier_message = 1 << 20,
    making_message,
    post_message,             ///< the exposure epoch has begun
    complete_message,         ///< the access epoch is over
    fence_message,            ///< of this process to itself: its next thread may fence
    admitted_message,         ///< to a waiter for a lock of a target: this tag plus its rank
    whole_message = 1 << 22,  ///< to a waiter for a node's lock of all targets (whole_tag)
    /// About memory that the asking process cannot reach (service.hpp).
    question_message = 1 << 24,
    answer_message,  ///< to the asking process: this tag plus a number that it has chosen
};

/// Returns a tag. `first` is the first rank of the node, `kind` an rma::WholeKind.
inline std::int32_t whole_tag(std::int32_t first, std::int32_t kind) noexcept {
    return whole_message + 4 * first + kind;
}

inline std::uint32_t context_of(const objects::Communicator& communicator) noexcept {
    return communicator.context + 1;
}

/// Sends a message without content. The caller does not wait for it: the caller may hold a lock
/// that others wait for. Returns false if there is no memory.
[[nodiscard]] inline bool tell(core::Thread& thread, objects::Communicator& communicator,
                               std::int32_t rank, std::int32_t tag) {
    core::Request* sent =
        p2p::start_send(thread, communicator, context_of(communicator), nullptr, 0, rank, tag);
    if (sent == nullptr) return false;
    if (!sent->immortal) thread.engine->endings().free_when_done(thread, *sent);
    return true;
}

/// Waits until all processes have called it. In a logarithmic number of rounds each learns,
/// indirectly, of all.
int meet(core::Thread& thread, objects::Communicator& communicator);

/// Does the same, and sets `yes` to whether all have said yes.
int all_agree(core::Thread& thread, objects::Communicator& communicator, bool& yes);

}  // namespace heddle::rma

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Questions of processes of other nodes about a window, and their answers. p2p/far/far_access.hpp
/// carries both.
///
/// Order          one lane leads from a process to another, and questions are served in the order
///                of arrival. So accumulates are in order, and an answer to `flush` says that
///                everything before it has been done.
/// Places         in a window with memory, bytes from its beginning there; in a dynamic one,
///                addresses.

#include <cstdint>

#include "mpi.h"
#include "objects/datatype.hpp"
#include "p2p/protocol.hpp"

namespace heddle::rma {

/// The values of p2p::AccessFields::kind. The message's source is the asking process's rank in the
/// window.
enum class FarKind : std::uint8_t {
    put,  ///< data follow
    get,  ///< answered by the data
    /// `operation`, on `length` elements; answered by the old values, if the process wants them.
    accumulate,
    compare_and_swap,  ///< two values follow, to be stored and to compare
    /// Answered when everything before has been done; refused if a part was not done.
    flush,
    find_region,  ///< answered by a FoundRegion with `offset` bytes at the place
    /// The target's lock; answered by a LockAnswer. `length`: a LockStage, `address`: the ticket.
    lock_shared,
    lock_exclusive,  ///< likewise; `operation`: whether the process has another lock of the window
    unlock_shared,   ///< answered when it is done
    unlock_exclusive,
    whole,  ///< the node's lock of all targets; `length`: a WholeStep. Answered by a WholeState
};

/// The progress of a process that asks for a lock.
enum class LockStage : std::uint8_t {
    begins,
    at_whole,  ///< it has waited at the node's lock of all targets
    at_gate,   ///< it has a ticket
};

/// A step of a reader of all targets on one node (whole_lock.hpp).
enum class WholeStep : std::uint8_t {
    enter,
    look,  ///< asks whether it has been let in
    be_firm,
    loosen,
    leave,
};

constexpr p2p::AccessFields question(FarKind kind, std::uint64_t address = 0,
                                     std::uint64_t offset = 0, std::uint64_t length = 0) noexcept {
    return {address, offset, 0, static_cast<std::uint32_t>(length), static_cast<std::uint8_t>(kind),
            0,       0};
}

/// A predefined datatype in a message: its handle means the same in every process.
struct FarElement {
    static std::uint16_t of(const objects::Datatype& element) noexcept {
        return static_cast<std::uint16_t>(reinterpret_cast<std::uintptr_t>(element.handle));
    }
    static MPI_Datatype handle(std::uint16_t number) noexcept {
        return reinterpret_cast<MPI_Datatype>(std::uintptr_t{number});
    }
};
inline constexpr std::size_t most_compared = 16;  ///< bytes of an element

struct LockAnswer {
    enum State : std::uint32_t {
        granted,
        // The process asks again after a message that says so:
        queued,           ///< with the ticket (admitted_message)
        queued_at_whole,  ///< other processes have the lock of all targets (whole_message)
    };
    State state;
    std::uint32_t ticket;
    std::int32_t writer;  ///< rank + 1 of the exclusive holder; for a report
};

struct FoundRegion {
    std::uint64_t address;
    std::uint64_t bytes;  ///< 0: not all of it is attached
};

}  // namespace heddle::rma

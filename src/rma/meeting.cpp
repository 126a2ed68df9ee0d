// SPDX-License-Identifier: BSD-3-Clause
#include "rma/meeting.hpp"

#include "comm/participants.hpp"

namespace heddle::rma {

int all_agree(core::Thread& thread, objects::Communicator& communicator, bool& yes) {
    const std::int32_t size = communicator.peers;
    std::uint32_t mine = yes;
    for (std::int32_t step = 1; step < size; step *= 2) {
        std::uint32_t theirs = 0;
        const std::int32_t before = (communicator.rank - step + size) % size;
        const std::int32_t after = (communicator.rank + step) % size;
        if (const int error =
                p2p::exchange(thread, communicator, context_of(communicator), &mine, sizeof mine,
                              after, &theirs, sizeof theirs, before, barrier_message))
            return error;
        mine &= theirs;
    }
    yes = mine != 0;
    return MPI_SUCCESS;
}

int meet(core::Thread& thread, objects::Communicator& communicator) {
    bool yes = true;
    return all_agree(thread, communicator, yes);
}

int hear_from_first(core::Thread& thread, objects::Communicator& communicator, void* data,
                    std::uint64_t bytes) {
    const comm::Participants participants(communicator);
    return comm::broadcast(thread, participants, comm::everybody(participants), participants.me(),
                           making_message, data, bytes);
}

}  // namespace heddle::rma

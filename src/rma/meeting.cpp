// SPDX-License-Identifier: BSD-3-Clause
#include "rma/meeting.hpp"

#include "comm/participants.hpp"

namespace heddle::rma {

int all_agree(core::Thread& thread, objects::Communicator& communicator, bool& yes) {
    const comm::Participants participants(communicator);
    return comm::all_agree(thread, participants, comm::everybody(participants), participants.me(),
                           barrier_message, yes);
}

int meet(core::Thread& thread, objects::Communicator& communicator) {
    bool yes = true;
    return all_agree(thread, communicator, yes);
}

}  // namespace heddle::rma

// SPDX-License-Identifier: BSD-3-Clause
#include "rma/meeting.hpp"

#include "comm/participants.hpp"

namespace heddle::rma {

int all_agree(core::Thread& thread, objects::Communicator& communicator, bool& yes) {
    return comm::all_agree(thread, comm::Participants(communicator), barrier_message, yes);
}

int meet(core::Thread& thread, objects::Communicator& communicator) {
    bool yes = true;
    return all_agree(thread, communicator, yes);
}

}  // namespace heddle::rma

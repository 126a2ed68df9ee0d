// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Makes an intercommunicator of two groups of processes that share nothing but a port name (MPI
/// 5.0, 11.9).
///
/// The connecting root writes to the port's key, with a key of its own. The accepting root answers
/// one of the letters that have come. Then the two are leaders of their groups, like those of
/// MPI_Intercomm_create (comm/leaders.hpp). A port that is not open refuses at once. If a client
/// ends while it connects, the next one takes its turn.
///
/// Errors         raised on `comm`: MPI_ERR_PORT if it is no port name, if the port is not open, or
///                if its process has ended.

#include <string_view>

#include "comm/agreement.hpp"
#include "comm/leaders.hpp"
#include "dyn/port.hpp"

namespace heddle::dyn {

/// The values of letters.
enum Says : std::uint64_t { connects = comm::refused + 1, accepted, child_failed };

/// Opens a port of this process, until it is closed. Returns its name. Throws std::runtime_error or
/// std::bad_alloc.
std::string open_port(objects::Process& process);
/// Returns false if it is no open port of this process.
bool close_port(core::Thread& thread, std::string_view name);

// `port` counts at `root` alone.

int accept(core::Thread& thread, objects::Communicator& comm, std::int32_t root,
           std::string_view port, comm::Part& part);
int connect(core::Thread& thread, objects::Communicator& comm, std::int32_t root,
            std::string_view port, comm::Part& part);

/// Answers `letter`, and returns a route to its sender.
comm::Route answer(core::Thread& thread, objects::Communicator& comm, const comm::Letter& letter);

}  // namespace heddle::dyn

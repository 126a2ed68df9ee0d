// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How two groups of processes that share nothing but a port name become an intercommunicator (MPI 5.0, 11.9).
///
/// The connecting root writes to the port's key, with a key of its own. The accepting root answers one of the letters that
/// have come; then the two are leaders of their groups, as those of MPI_Intercomm_create are (comm/leaders.hpp). A port that
/// is not open refuses at once. A client that ends while it connects leaves its turn to the next one.
///
/// Errors         raised on `comm`: MPI_ERR_PORT for what is no port, or is not open, or whose process has ended.

#include <string_view>

#include "comm/agreement.hpp"
#include "comm/leaders.hpp"
#include "dyn/port.hpp"

namespace heddle::dyn {

/// What letters say.
enum Says : std::uint64_t { connects = comm::refused + 1, accepted, child_failed };

/// A port of this process, until it is closed. Throws std::runtime_error or std::bad_alloc.
std::string open_port(objects::Process& process);
/// False: it is no open port of this process.
bool close_port(core::Thread& thread, std::string_view name);

// `port` counts at `root` alone.

int accept(core::Thread& thread, objects::Communicator& comm, std::int32_t root,
           std::string_view port, comm::Part& part);
int connect(core::Thread& thread, objects::Communicator& comm, std::int32_t root,
            std::string_view port, comm::Part& part);

/// To the one that has written `letter`, which is answered.
comm::Route answer(core::Thread& thread, objects::Communicator& comm, const comm::Letter& letter);

}  // namespace heddle::dyn

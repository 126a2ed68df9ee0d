// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/thread.hpp"
#include "objects/process.hpp"

namespace heddle::objects {
struct Session;
}

namespace heddle::comm {

/// Waits, for MPI_Session_finalize, until everything that the session sent has been handed over.
/// Sends of other sessions and of the world model (nullptr) may wait for what this thread does
/// afterwards.
void hand_over(core::Thread& thread, const objects::Session* session);
/// Does the same for all sessions and the world model, and for answers to other processes. Called
/// at the end of the process.
void hand_over_everything(core::Thread& thread);

/// Waits, for MPI_Finalize (MPI 5.0, 11.2.2), until everything that the world model sent has been
/// handed over. It also waits until every process of the world has come as far: until then others
/// may need this one to complete their operations. Messages that no process receives are dropped.
int say_goodbye(core::Thread& thread);

/// Clears the buffer addresses in free requests and messages. Otherwise a leak checker would take
/// leaked memory of the program for memory in use. No thread is within MPI.
void forget_buffers(objects::Process& process) noexcept;

}  // namespace heddle::comm

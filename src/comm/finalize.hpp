// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/thread.hpp"
#include "objects/process.hpp"

namespace heddle::objects {
struct Session;
}

namespace heddle::comm {

/// What MPI_Session_finalize waits for: until everything that the session sent has been handed over. Sends of
/// other sessions and of the world model (nullptr) may wait for what this thread does afterwards.
void hand_over(core::Thread& thread, const objects::Session* session);
/// What the end of the process waits for: the same of everybody, and answers to other processes.
void hand_over_everything(core::Thread& thread);

/// What MPI_Finalize waits for (MPI 5.0, 11.2.2): until everything that the world model sent has been
/// handed over, and every process of the world has come as far, since until then it may be needed to
/// complete what it takes part in. Messages that nobody receives are dropped.
int say_goodbye(core::Thread& thread);

/// Requests and messages that are free forget whose memory they were about: a leak of the program is not to
/// be taken for memory in use because of them. No thread is within MPI.
void forget_buffers(objects::Process& process) noexcept;

}  // namespace heddle::comm

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/thread.hpp"

namespace heddle::p2p {

/// What MPI_Session_finalize waits for: until everything that this process sent has been handed over.
void hand_over(core::Thread& thread);

/// What MPI_Finalize waits for (MPI 5.0, 11.2.2): until everything that this process sent has been
/// handed over, and every process of the world has come as far, since until then it may be needed to
/// complete what it takes part in. Messages that nobody receives are dropped.
int say_goodbye(core::Thread& thread);

}  // namespace heddle::p2p

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Accumulates (MPI 5.0, 12.3.4 to 12.3.6): MPI_Accumulate, MPI_Get_accumulate, MPI_Fetch_and_op,
/// MPI_Compare_and_swap.
///
/// Atomicity      of each element. In memory that all processes have mapped, elements that the processor has
///                instructions for are changed by these (atomic.hpp); all others, and elements in memory that the
///                kernel copies, under a lock of the target (rma/control.hpp). Which of the two it is depends on the
///                datatype, the place and the window alone, so that accumulates of one place go the same way.
/// Order          a call is over when it returns, so that each process's accumulates are in order. What is sent to
///                another node is in the order of its lane (far_messages.hpp).
/// Restrictions   operations of the user are refused; data are made of one predefined datatype.

#include "core/thread.hpp"
#include "objects/operation.hpp"
#include "rma/access.hpp"

namespace heddle::rma {

/// `origin` nullptr: nothing is given (MPI_NO_OP). `result` nullptr: the old values are not asked for.
int accumulate(core::Thread& thread, objects::Window& window, const objects::Operation& operation,
               const Local* origin, const Local* result, const Remote& there);

/// One element of a predefined datatype.
int fetch_and_op(core::Thread& thread, objects::Window& window, const objects::Operation& operation,
                 const std::byte* origin, std::byte* result, const Remote& there);
int compare_and_swap(core::Thread& thread, objects::Window& window, const std::byte* origin,
                     const std::byte* compare, std::byte* result, const Remote& there);

}  // namespace heddle::rma

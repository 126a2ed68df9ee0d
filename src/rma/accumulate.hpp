// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Accumulates (MPI 5.0, 12.3.4 to 12.3.6): MPI_Accumulate, MPI_Get_accumulate, MPI_Fetch_and_op,
/// MPI_Compare_and_swap.
///
/// Atomicity      of each element. In memory that all processes have mapped, the processor's
///                instructions change the elements that they exist for (atomic.hpp). All other
///                elements, and elements in memory that the kernel copies, are changed under a lock
///                of the target (rma/control.hpp). The choice depends on the datatype, the place
///                and the window alone. So all accumulates to one place use the same method.
/// Order          a call has completed when it returns, so that each process's accumulates are in
///                order. Messages to another node are in the order of their lane
///                (far_messages.hpp).
/// Restrictions   operations of the user are refused; data are made of one predefined datatype.

#include "core/thread.hpp"
#include "objects/operation.hpp"
#include "rma/access.hpp"

namespace heddle::rma {

/// Applies an operation to elements in a window. `origin` is nullptr if the operation takes no
/// values (MPI_NO_OP). `result` is nullptr if the caller does not want the old values.
int accumulate(core::Thread& thread, objects::Window& window, const objects::Operation& operation,
               const Local* origin, const Local* result, const Remote& there);

/// Applies an operation to one element of a predefined datatype.
int fetch_and_op(core::Thread& thread, objects::Window& window, const objects::Operation& operation,
                 const std::byte* origin, std::byte* result, const Remote& there);
int compare_and_swap(core::Thread& thread, objects::Window& window, const std::byte* origin,
                     const std::byte* compare, std::byte* result, const Remote& there);

}  // namespace heddle::rma

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Functions that several kinds of requests share with those of messages, sent or received.

#include "core/request_type.hpp"

namespace heddle::p2p {

/// Sets the status of a complete receive.
void set_status_of_receive(MPI_Status* status, const core::Request& receive) noexcept;
/// Raises an error: the `cancel` of a kind for which the standard forbids it.
int refuse_to_cancel(core::Thread& thread, core::Request& request);

}  // namespace heddle::p2p

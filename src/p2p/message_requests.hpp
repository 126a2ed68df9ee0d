// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What several kinds of requests have in common with those of messages, sent or received.

#include "core/request_type.hpp"

namespace heddle::p2p {

/// The status of a complete receive.
void set_status_of_receive(MPI_Status* status, const core::Request& receive) noexcept;
/// A kind's `cancel` if the standard forbids it: raises that.
int refuse_to_cancel(core::Thread& thread, core::Request& request);

}  // namespace heddle::p2p

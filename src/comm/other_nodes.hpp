// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Connects a process with those of other nodes. Each publishes by the launcher a card with the
/// address of its lane. It reads another's card when it first has something to send there.

#include <memory>

#include "launch/job.hpp"
#include "launch/numbering.hpp"
#include "p2p/far/network.hpp"
#include "tool/settings.hpp"

namespace heddle::comm {

/// Makes the network of a job on several nodes. Every rank calls it. `numbers` must live as long.
/// Throws std::runtime_error.
std::unique_ptr<p2p::Network> meet_other_nodes(launch::Job& job, const launch::Numbering& numbers,
                                               const tool::Settings& settings);

}  // namespace heddle::comm

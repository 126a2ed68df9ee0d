// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How a process finds those of other nodes: each publishes a card with the address of its lane by the launcher, and
/// reads that of another when it first has something to send there.

#include <memory>

#include "launch/job.hpp"
#include "launch/numbering.hpp"
#include "p2p/network.hpp"
#include "tool/settings.hpp"

namespace heddle::comm {

/// The network of a job on several nodes. Every rank calls it. `numbers` must live as long. Throws std::runtime_error.
std::unique_ptr<p2p::Network> meet_other_nodes(launch::Job& job, const launch::Numbering& numbers,
                                               const tool::Settings& settings);

}  // namespace heddle::comm

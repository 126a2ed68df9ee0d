// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What a thread waits for, in words for a report: "(source 1, tag 7, MPI_COMM_WORLD)".

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/request.hpp"
#include "match/message.hpp"

namespace heddle::p2p {

class Engine;

/// The communicator of a context: not by the name that the user gave, which another thread may be changing.
std::string describe_context(std::uint32_t context);
void describe_request(Engine& engine, const core::Request& request, char* text, std::size_t bytes);
void describe_pattern(const match::Pattern& pattern, char* text, std::size_t bytes);

}  // namespace heddle::p2p

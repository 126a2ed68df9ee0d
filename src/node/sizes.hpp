// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Numbers that the parts of a node's memory have in common.

#include <cstddef>

namespace heddle::node {

inline constexpr std::size_t page_bytes = 4096;    ///< unit in which memory is given back
inline constexpr std::size_t most_instances = 64;  ///< of a process; one bit each in Mailbox::rung

}  // namespace heddle::node

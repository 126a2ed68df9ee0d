// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace heddle::cmd {

/// Runs `heddle info --collectives`: prints the table by which collective calls find their
/// algorithm.
void print_collectives();

}  // namespace heddle::cmd

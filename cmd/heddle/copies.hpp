// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace heddle::cmd {

/// Runs `heddle info --copies`: prints the table by which payload is copied, and the row in use.
void print_copies();

}  // namespace heddle::cmd

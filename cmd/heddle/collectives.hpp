// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace heddle::cmd {

/// `heddle info --collectives`: the table by which collective calls find their algorithm.
void print_collectives();

}  // namespace heddle::cmd

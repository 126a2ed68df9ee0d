// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace heddle::hangs {

/// Name of the variable by which keepers of a job on several hosts find mpiexec
/// (cmd/mpiexec/report_place.hpp). The launcher that mpiexec has started has it, and so has each
/// keeper.
inline constexpr const char* report_variable = "HEDDLE_REPORT_TO";

}  // namespace heddle::hangs

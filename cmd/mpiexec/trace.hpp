// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Events of the ranks (trace/): where they keep them, and what becomes of them in the end: a file for Perfetto's
/// viewer (--trace), sentences about what costs time (--advice).
///
/// Ranks on other machines keep theirs in the same folder, which all machines must share.

#include <string>

#include "environment.hpp"
#include "job.hpp"

namespace heddle::mpiexec {

/// Makes the folder where ranks keep events, if they are to.
void prepare_trace(Job& job);

/// Has a rank trace itself.
void trace(Environment& environment, const Job& job);

/// Writes what there is so far. The job goes on.
void write_trace(const Job& job);

/// Writes everything, says what is to be said, and removes the folder.
void finish_trace(const Job& job);

}  // namespace heddle::mpiexec

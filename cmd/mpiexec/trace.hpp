// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Events of the ranks (trace/): the folder that holds them, and their use at the end. They become
/// a file for Perfetto's viewer (--trace), and sentences about what costs time (--advice).
///
/// Ranks on other machines use the same folder, which all machines must share.

#include <string>

#include "environment.hpp"
#include "job.hpp"

namespace heddle::mpiexec {

/// Makes the folder in which ranks keep events, if the job needs it.
void prepare_trace(Job& job);

/// Makes a rank trace itself.
void trace(Environment& environment, const Job& job);

/// Writes the events so far. The job goes on.
void write_trace(const Job& job);

/// Writes all events, prints the advice, and removes the folder.
void finish_trace(const Job& job);

}  // namespace heddle::mpiexec

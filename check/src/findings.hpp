// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Findings: a line each on standard error, once in a job's ranks of a node.
///
///     check: rank 1 at ring.c:42, MPI_Recv: receives 4 MPI_INT of a message of 4 MPI_DOUBLE. ...
///
/// HEDDLE_CHECK=json makes each an object of JSON on a line.

#include <string>

#include "places.hpp"

namespace heddle::check {

/// Prints a finding. `kind` names the check, `text` says what is wrong, `advice` what to do.
/// `of_rank` is the rank of the finding if it is not this one.
void tell(const char* kind, const char* call, Place place, const std::string& text,
          const char* advice, int of_rank = -1);
/// Prints a line that is no finding.
void note(const std::string& text);
void set_own_rank(int rank) noexcept;
int own_rank() noexcept;

}  // namespace heddle::check

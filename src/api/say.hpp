// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The output of a rank on standard error at its end.

#include <string>

#include "objects/process.hpp"

namespace heddle::api {

/// Writes "heddle: WHAT rank R of N" and the lines, in one piece, so that those of several ranks do
/// not mix.
void say(const objects::Process& process, const char* what, const std::string& lines);

}  // namespace heddle::api

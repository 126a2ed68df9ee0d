// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The knobs and the counters as text: for users, for docs/TOOLS.md, and as a manual page.
///
/// They come from the same lines as those in the library (src/tool/all.def).

#include <string>

namespace heddle::cmd {

/// Returns a table of every knob: variable, type, present value, standard value, origin,
/// description.
std::string knobs_as_text();
std::string counters_as_text();

/// Returns both as tables in Markdown, without parts that depend on the environment.
std::string tables_as_markdown();

/// Returns heddle(7) for man.
std::string manual_page();

/// Returns the errors in the variables of the environment, or an empty text if there are none.
std::string wrong_knobs();

}  // namespace heddle::cmd

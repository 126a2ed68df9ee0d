// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The knobs and the counters as text: for people, for docs/TOOLS.md, and as a manual page.
///
/// They come from the same lines as those in the library (src/tool/all.def).

#include <string>

namespace heddle::cmd {

/// A table of every knob: variable, type, value now, standard value, who set it, what it does.
std::string knobs_as_text();
std::string counters_as_text();

/// Both as tables in Markdown, without what depends on the environment.
std::string tables_as_markdown();

/// heddle(7), for man.
std::string manual_page();

/// What is wrong with the variables in the environment; empty if nothing is.
std::string wrong_knobs();

}  // namespace heddle::cmd

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The subcommands of `heddle`. Each has a file of its own and here one function, which adds it to
/// the application; a new one is a file, a line here and a line in main().

#include <CLI/App.hpp>

namespace heddle::cmd {

/// `heddle info`: what this installation is, and which functions it lacks.
void add_info(CLI::App& application);

/// `heddle replay`: recordings of matching under each engine.
void add_replay(CLI::App& application);

/// `heddle stencil`: the model of halo exchanges between threads.
void add_stencil(CLI::App& application);

/// `heddle locks`: the locks of the laboratory, passed on among threads.
void add_locks(CLI::App& application);

/// `heddle bench`: the papers' figures (bench/README.md).
void add_bench(CLI::App& application);

}  // namespace heddle::cmd

// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>

#include "subcommands.hpp"

// NOLINTNEXTLINE(bugprone-exception-escape): what CLI11_PARSE lets through ends the command, rightly.
int main(int argc, char** argv) {
    CLI::App application{"Heddle: MPI for programs with threads", "heddle"};
    application.set_version_flag("--version", "Heddle " HEDDLE_VERSION);
    application.require_subcommand(1);
    heddle::cmd::add_info(application);
    heddle::cmd::add_bench(application);
    heddle::cmd::add_locks(application);
    heddle::cmd::add_replay(application);
    heddle::cmd::add_stencil(application);
    CLI11_PARSE(application, argc, argv);
    return 0;
}

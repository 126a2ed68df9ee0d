// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>

#include "subcommands.hpp"

int main(int argc, char** argv) {
    CLI::App application{"Heddle: MPI for programs with threads", "heddle"};
    application.set_version_flag("--version", "Heddle " HEDDLE_VERSION);
    application.require_subcommand(1);
    heddle::cmd::add_info(application);
    CLI11_PARSE(application, argc, argv);
    return 0;
}

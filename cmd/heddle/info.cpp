// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "collectives.hpp"
#include "subcommands.hpp"
#include "tables.hpp"
#include "unsupported_functions.hpp"

namespace heddle::cmd {
namespace {

struct InfoOptions {
    bool unsupported = false;
    bool collectives = false;
    bool knobs = false;
    bool counters = false;
    bool markdown = false;
    bool manual = false;

    bool tables() const { return knobs || counters || markdown || manual; }
};

void print_tables(const InfoOptions& options) {
    if (options.knobs) fmt::print("{}", knobs_as_text());
    if (options.knobs && options.counters) fmt::print("\n");
    if (options.counters) fmt::print("{}", counters_as_text());
    if (options.markdown) fmt::print("{}", tables_as_markdown());
    if (options.manual) fmt::print("{}", manual_page());
    if (!options.knobs) return;
    if (const std::string wrong = wrong_knobs(); !wrong.empty()) {
        std::fflush(stdout);
        fmt::print(stderr, "heddle: {}\n", wrong);
        throw CLI::RuntimeError(1);
    }
}

/// The file of the library that answers our MPI calls: not always ours, since LD_LIBRARY_PATH may
/// name another MPI that speaks the ABI.
std::string library_path() {
    Dl_info info{};
    void* const symbol = dlsym(RTLD_DEFAULT, "PMPI_Get_library_version");
    if (symbol == nullptr || dladdr(symbol, &info) == 0) return "unknown";
    std::error_code error;
    const auto path = std::filesystem::canonical(info.dli_fname, error);
    return error ? info.dli_fname : path.string();
}

std::string library_version() {
    std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    text.resize(static_cast<std::size_t>(length));
    return text;
}

void info(const InfoOptions& options) {
    if (options.unsupported) {
        for (const std::string_view name : unsupported_functions) fmt::print("{}\n", name);
        return;
    }
    if (options.collectives) return print_collectives();
    if (options.tables()) return print_tables(options);
    int mpi[2] = {0, 0};
    int abi[2] = {0, 0};
    MPI_Get_version(&mpi[0], &mpi[1]);
    MPI_Abi_get_version(&abi[0], &abi[1]);
    const std::string version = library_version();
    const bool ours = version.starts_with("Heddle ");

    fmt::print("Heddle {}\n", HEDDLE_VERSION);
    fmt::print("  standard       MPI {}.{}, ABI {}.{}\n", mpi[0], mpi[1], abi[0], abi[1]);
    fmt::print("  library        {}\n", library_path());
    fmt::print("  library says   {}\n", version);
    if (!ours) {
        fmt::print("  This library is not Heddle: see LD_LIBRARY_PATH and LD_PRELOAD.\n");
        return;
    }
    const std::size_t missing = unsupported_functions.size();
    fmt::print("  functions      {} of {} supported, {} unsupported\n", function_count - missing,
               function_count, missing);
    if (missing != 0) fmt::print("                 heddle info --unsupported lists those\n");
}

}  // namespace

void add_info(CLI::App& application) {
    CLI::App* const command =
        application.add_subcommand("info", "Version, library, how much of MPI is supported; knobs and counters");
    const auto options = std::make_shared<InfoOptions>();
    command->add_flag("--unsupported", options->unsupported,
                      "List the functions that raise MPI_ERR_UNSUPPORTED_OPERATION, one in a line");
    command->add_flag("--collectives", options->collectives,
                      "List which algorithm a collective call takes, by size and ranks, and why");
    command->add_flag("--knobs", options->knobs,
                      "List the HEDDLE_* variables: their values, and who set them");
    command->add_flag("--counters", options->counters, "List what the library counts");
    // For the build and the tests of the documentation.
    command->add_flag("--markdown", options->markdown)->group("");
    command->add_flag("--manual", options->manual)->group("");
    command->callback([options] { info(*options); });
}

}  // namespace heddle::cmd

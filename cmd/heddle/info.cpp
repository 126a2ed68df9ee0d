// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "collectives.hpp"
#include "copies.hpp"
#include "faces.hpp"
#include "left_out.hpp"
#include "subcommands.hpp"
#include "sync/asymmetric_fence.hpp"
#include "tables.hpp"
#include "tool/knobs.hpp"
#include "transport/network.hpp"
#include "unsupported_functions.hpp"

namespace heddle::cmd {
namespace {

void print_tables(const InfoOptions& options) {
    if (options.knobs) fmt::print("{}", knobs_as_text());
    if (options.knobs && options.counters) fmt::print("\n");
    if (options.counters) fmt::print("{}", counters_as_text());
    if (options.markdown) fmt::print("{}", tables_as_markdown());
    if (options.manual) fmt::print("{}", manual_page());
    if (!options.knobs) return;
    if (const std::string wrong = wrong_knobs(); !wrong.empty()) {
        std::fflush(stdout);
        fail("heddle", wrong);
    }
}

/// Returns the file of the library that answers this command's MPI calls. LD_LIBRARY_PATH may name
/// another MPI that speaks the ABI.
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

/// Returns the state of membarrier() for a rank that is started in the same environment.
std::string membarrier() {
    const int refusal = sync::HeavyFences::refusal();
    if (refusal == 0) return "works";
    return fmt::format(
        "refused ({}): threads that wait wake up now and then, and no lock is biased",
        std::strerror(refusal));
}

}  // namespace

void info(const InfoOptions& options) {
    if (options.unsupported) {
        for (const std::string_view name : unsupported_functions) fmt::print("{}\n", name);
        return;
    }
    if (options.collectives) return print_collectives();
    if (options.copies) return print_copies();
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
    if (const std::vector<std::string> names = faces(); !names.empty())
        fmt::print("  faces          {}\n                 in {}\n", fmt::join(names, ", "),
                   folder_of_faces().native());
    fmt::print("  membarrier     {}\n", membarrier());
    fmt::print("  network        {}\n", transport::describe_network(tool::settings_now()));
    fmt::print("  build          {}\n", HEDDLE_LEFT_OUT);
}

}  // namespace heddle::cmd

// SPDX-License-Identifier: BSD-3-Clause
#include "stencil/model.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "subcommands.hpp"

namespace heddle::cmd {
namespace {

constexpr const char* naive = "naive";

stencil::Exchange exchange_of(const StencilOptions& options) {
    const stencil::Stencil stencil = stencil::stencil_of(options.points);
    if (options.decomposition == naive) {
        if (!options.threads) throw stencil::Refused("a naive decomposition needs --threads N");
        return stencil::naive_exchange(*options.threads, stencil::neighbours(stencil));
    }
    if (options.threads)
        throw stencil::Refused(
            "--threads is for a naive decomposition; here the subdomains are the threads");
    return stencil::exchange(stencil, stencil::decomposition_of(options.decomposition));
}

void print_exchange(const StencilOptions& options, const stencil::Exchange& exchange) {
    const bool naively = options.decomposition == naive;
    fmt::print(
        "{}-point stencil, {}\n", options.points,
        naively ? fmt::format("naive, {} threads", *options.threads) : options.decomposition);
    fmt::print("  M_t  {:>12}  messages that the process receives in one exchange\n",
               exchange.messages);
    fmt::print("  T_r  {:>12}  of its threads receive\n", exchange.receiving);
    fmt::print("  T_s  {:>12}  threads{} send to it\n", exchange.sending,
               naively ? "" : " of other processes");
    const char* const across = exchange.sides.size() == 2 ? "M_e" : "M_s";
    for (const stencil::Side& side : exchange.sides)
        fmt::print("  {}  {:>12}  of the messages come across {} {}\n", across, side.messages,
                   exchange.sides.size() == 2 ? "an edge along" : "a face along", side.name);
    if (!naively && !exchange.receiving_by_equation)
        fmt::print(
            "With 1 subdomain in a dimension every thread communicates: T_r is their number. "
            "Equations 3\n"
            "and 7 need 2 subdomains or more in each dimension.\n");
}

}  // namespace

void stencil_exchange(const StencilOptions& options) {
    try {
        print_exchange(options, exchange_of(options));
    } catch (const stencil::Refused& refused) {
        fmt::print(stderr, "heddle: {}\n", refused.what());
        throw Failed{2};
    }
}

}  // namespace heddle::cmd

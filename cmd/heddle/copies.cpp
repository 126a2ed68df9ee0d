// SPDX-License-Identifier: BSD-3-Clause
#include "copies.hpp"

#include <fmt/format.h>

#include "platform/copy_table.hpp"
#include "tool/copies.hpp"
#include "tool/knobs.hpp"

namespace heddle::cmd {
namespace {

using platform::Copy;

const char* method_text(Copy way) {
    switch (way) {
        case Copy::by_library: return "memcpy";
        case Copy::by_vectors: return "vectors";
        case Copy::around_cache: break;
    }
    return "around cache";
}

}  // namespace

void print_copies() {
    fmt::print(
        "How payload in shared memory is copied. Near: both cores share a cache. Long: messages of "
        "8 MiB and\n"
        "more. Walk: of a ring of payload, for messages below 8 KiB. HEDDLE_COPIES forces a "
        "row.\n\n");
    constexpr const char* columns = "{:<13}{:<31}{:<9}{:<14}{:<9}{:<14}{}\n";
    fmt::print(fmt::runtime(columns), "row", "processor", "store", "store far", "load",
               "load, long", "walk");
    for (const platform::CopyRow& row : platform::copy_rows())
        fmt::print(fmt::runtime(columns), row.name, row.processor, method_text(row.store_near),
                   method_text(row.store_far), method_text(row.load), method_text(row.load_long),
                   row.walks_whole ? "whole" : "short");
    fmt::print("\nIn use here: {}\n", tool::copy_row_for(tool::settings_now()).name);
}

}  // namespace heddle::cmd

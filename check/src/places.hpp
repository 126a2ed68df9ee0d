// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The places of MPI calls in the program: a module and an address in it, alike in all ranks of a
/// node.

#include <cstdint>
#include <string>

namespace heddle::check {

/// A place: the number of the module in the node's memory above 48 bits of address. 0 is nowhere.
using Place = std::uint64_t;

/// The caller of a function: its return address, and the begin of its frame.
struct Caller {
    const void* address = nullptr;
    const char* frame = nullptr;
};
#define HEDDLE_CALLER                                                                \
    ::heddle::check::Caller {                                                        \
        __builtin_return_address(0), static_cast<const char*>(__builtin_dwarf_cfa()) \
    }

/// Returns the place of the call that returns to `from`. Skips frames of the bindings (Fortran,
/// faces).
Place place_of(Caller from) noexcept;

/// Returns "ring.c:12", or "ring+0x1234" if no line is known. Asks addr2line once for each place.
std::string location_of(Place place);

}  // namespace heddle::check

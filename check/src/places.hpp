// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Where the program calls MPI: a module and an address in it, alike in all ranks of a node.

#include <cstdint>
#include <string>

namespace heddle::check {

/// 0 is nowhere. Above 48 bits of address the number of the module in the memory of the node.
using Place = std::uint64_t;

/// Who has called a function: the address to which it returns, and where the frame of the caller begins.
struct Caller {
    const void* address = nullptr;
    const char* frame = nullptr;
};
#define HEDDLE_CALLER                                                                \
    ::heddle::check::Caller {                                                        \
        __builtin_return_address(0), static_cast<const char*>(__builtin_dwarf_cfa()) \
    }

/// Of the call that comes back to `from`. Frames of the bindings (Fortran, faces) are passed over.
Place place_of(Caller from) noexcept;

/// "ring.c:12", or "ring+0x1234" where no line is known. Asks addr2line once for each place.
std::string location_of(Place place);

}  // namespace heddle::check

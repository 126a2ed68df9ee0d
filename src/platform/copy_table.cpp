// SPDX-License-Identifier: BSD-3-Clause
#include "platform/copy_table.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace heddle::platform {
namespace {

constexpr Copy library = Copy::by_library, vectors = Copy::by_vectors, around = Copy::around_cache;

constexpr CopyRow rows[] = {
    // name, processor, store near and far, load, load long, walks whole
    {"generic", "any other", vectors, around, vectors, vectors, false},
    {"amd_25", "AMD, family 25 (Zen 3 and 4)", vectors, around, vectors, around, true},
    {"amd_26", "AMD, family 26 (Zen 5)", library, library, library, library, false},
    {"intel_6_167", "Intel, family 6, model 167", vectors, around, vectors, vectors, false},
};

#if defined(__x86_64__)
/// The processor, as the instruction cpuid describes it.
struct Processor {
    bool is_amd = false, is_intel = false;
    unsigned family = 0, model = 0;

    Processor() noexcept {
        unsigned most = 0, ebx = 0, ecx = 0, edx = 0, eax = 0;
        if (__get_cpuid(0, &most, &ebx, &ecx, &edx) == 0) return;
        is_amd = ebx == signature_AMD_ebx;
        is_intel = ebx == signature_INTEL_ebx;
        if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return;
        const unsigned base = eax >> 8 & 0xf;
        family = base == 0xf ? base + (eax >> 20 & 0xff) : base;
        model = (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
    }
};
#endif

}  // namespace

constinit std::atomic<const CopyRow*> detail::copy_row{rows};

std::span<const CopyRow> copy_rows() noexcept { return rows; }

const CopyRow& copy_row_of_processor() noexcept {
#if defined(__x86_64__)
    const Processor processor;
    if (processor.is_amd && processor.family == 25) return rows[1];
    if (processor.is_amd && processor.family == 26) return rows[2];
    if (processor.is_intel && processor.family == 6 && processor.model == 167) return rows[3];
#endif
    return rows[0];
}

}  // namespace heddle::platform

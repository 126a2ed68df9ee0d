// SPDX-License-Identifier: BSD-3-Clause
#include "platform/callers.hpp"

#include <cstdint>
#include <dlfcn.h>
#include <string_view>
#include <unwind.h>

namespace heddle::platform {
namespace {

struct Search {
    std::string file;            ///< the beginning of the library's file name
    const void* here;            ///< where this library is loaded
    bool left = false;           ///< the walk has left this library
    const char* name = nullptr;  ///< the outermost function found so far
};

std::string_view without_folders(std::string_view path) { return path.substr(path.rfind('/') + 1); }

_Unwind_Reason_Code visit(_Unwind_Context* frame, void* argument) {
    auto& search = *static_cast<Search*>(argument);
    // A return address may lie beyond the end of its function.
    const auto place = static_cast<std::uintptr_t>(_Unwind_GetIP(frame)) - 1;
    Dl_info code;
    if (dladdr(reinterpret_cast<void*>(place), &code) == 0 || code.dli_fname == nullptr)
        return _URC_END_OF_STACK;
    if (code.dli_fbase == search.here && !search.left) return _URC_NO_REASON;
    search.left = true;
    if (!without_folders(code.dli_fname).starts_with(search.file)) return _URC_END_OF_STACK;
    search.name = code.dli_sname;
    return _URC_NO_REASON;
}

struct Site {
    const void* here;
    std::uint64_t address = 0;
};

/// Returns true if code of this file makes calls for the program.
bool is_ours(const char* file) {
    const std::string_view name = without_folders(file);
    return name.starts_with("libheddle_") || name.starts_with("libmpi");
}

_Unwind_Reason_Code visit_site(_Unwind_Context* frame, void* argument) {
    auto& site = *static_cast<Site*>(argument);
    const std::uintptr_t address = _Unwind_GetIP(frame);
    Dl_info code;
    if (address == 0 || dladdr(reinterpret_cast<void*>(address - 1), &code) == 0 ||
        code.dli_fname == nullptr)
        return _URC_END_OF_STACK;
    if (code.dli_fbase == site.here || is_ours(code.dli_fname)) return _URC_NO_REASON;
    site.address = address;
    return _URC_END_OF_STACK;
}

}  // namespace

std::uint64_t call_site() noexcept {
    Dl_info here;
    if (dladdr(reinterpret_cast<void*>(&visit_site), &here) == 0) return 0;
    Site site{here.dli_fbase};
    _Unwind_Backtrace(visit_site, &site);
    return site.address;
}

std::string entry_of(const std::string& library) {
    Dl_info here;
    if (dladdr(reinterpret_cast<void*>(&visit), &here) == 0) return {};
    Search search{library + ".so", here.dli_fbase};
    _Unwind_Backtrace(visit, &search);
    return search.name == nullptr ? std::string() : search.name;
}

}  // namespace heddle::platform

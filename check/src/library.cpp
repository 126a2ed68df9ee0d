// SPDX-License-Identifier: BSD-3-Clause
/// Finds the functions below: in libmpi_abi.so.1, and in a library of another ABI if the program
/// calls that.

#include <link.h>

#include <climits>
#include <cstdlib>
#include <cstring>

#include "checks.hpp"

namespace heddle::check {

namespace {

Functions below, other;
bool is_other = false;

[[noreturn]] void give_up(const char* what) {
    std::fprintf(stderr, "check: libmpi_abi.so.1 is not found: %s\n", what == nullptr ? "" : what);
    std::_Exit(1);
}

/// Opens the library beside this one, if the program has not loaded one.
void* open_library() {
    if (void* loaded = ::dlopen("libmpi_abi.so.1", RTLD_NOW | RTLD_NOLOAD)) return loaded;
    Dl_info own;
    char path[PATH_MAX];
    if (::dladdr(reinterpret_cast<const void*>(&is_on), &own) == 0 ||
        ::realpath(own.dli_fname, path) == nullptr)
        give_up("the path of the checker is unknown");
    for (int i = 0; i < 2; ++i)
        if (char* slash = std::strrchr(path, '/')) *slash = '\0';
    std::strncat(path, "/libmpi_abi.so.1", sizeof path - std::strlen(path) - 1);
    return ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/// Looks for a library with the name of another MPI's.
int look_at(dl_phdr_info* info, std::size_t, void* found) {
    const char* slash = std::strrchr(info->dlpi_name, '/');
    const char* name = slash == nullptr ? info->dlpi_name : slash + 1;
    const std::string text = name;
    if (!text.starts_with("libmpi.so") && !text.starts_with("libmpich.so")) return 0;
    *static_cast<std::string*>(found) = info->dlpi_name;
    return 1;
}

bool find_all() {
    void* const handle = open_library();
    if (handle == nullptr) give_up(::dlerror());
    find_functions(below, handle, "PMPI_");
    std::string path;
    ::dl_iterate_phdr(look_at, &path);
    if (!path.empty())
        if (void* const face = ::dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD)) {
            find_functions(other, face, "MPI_");
            is_other = true;
        }
    return true;
}

void find_once() {
    static const bool found = find_all();
    (void)found;
}

}  // namespace

const Functions& library() noexcept {
    find_once();
    return below;
}
const Functions* another_mpi() noexcept {
    find_once();
    return is_other ? &other : nullptr;
}

}  // namespace heddle::check

// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/library.hpp"

#include <dlfcn.h>

#include <thread>
#include <type_traits>

namespace heddle::transport::ofi {
namespace {

constexpr const char* file = "libfabric.so.1";

Library load() {
    Library found;
    void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        found.missing = std::string("libfabric is not installed (") + dlerror() + ")";
        return found;
    }
    const auto find = [&](auto& function, const char* name, const char* version) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
            dlvsym(handle, name, version));
        if (function == nullptr && found.missing.empty())
            found.missing =
                std::string(file) + " has no " + name + " of " + version + ": it is too old";
    };
    find(found.getinfo, "fi_getinfo", "FABRIC_1.3");
    find(found.freeinfo, "fi_freeinfo", "FABRIC_1.3");
    find(found.dupinfo, "fi_dupinfo", "FABRIC_1.3");
    find(found.fabric, "fi_fabric", "FABRIC_1.1");
    find(found.strerror, "fi_strerror", "FABRIC_1.0");
    find(found.version, "fi_version", "FABRIC_1.0");
    return found;
}

}  // namespace

const Library& library() {
    static const Library& loaded = *[] {
        auto* const made = new Library;
        // A thread of its own: what is linked to libfabric may change the cores of the thread that loads it.
        std::thread([made] { *made = load(); }).join();
        return made;
    }();
    return loaded;
}

}  // namespace heddle::transport::ofi

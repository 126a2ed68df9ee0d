// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/library.hpp"

#include <dlfcn.h>

#include <optional>
#include <thread>
#include <type_traits>

#include "transport/ofi/absent_networks.hpp"

namespace heddle::transport::ofi {
namespace {

constexpr const char* file = "libfabric.so.1";

/// Opens libfabric. One of another version may ask more of those networks than is known here.
void* open_file(bool has_devices) {
    std::optional<AbsentNetworks> absent;
    if (!has_devices) absent.emplace();
    void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr || has_devices) return handle;
    absent.reset();
    return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

Library load() {
    Library found;
    const bool has_devices = has_rdma_devices();
    void* const handle = open_file(has_devices);
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
    if (!has_devices && found.missing.empty()) initialize_without_rdma(found);
    return found;
}

}  // namespace

const Library& library() {
    static const Library& loaded = *[] {
        auto* const made = new Library;
        // A thread of its own. A library that is linked to libfabric may change the cores of the
        // thread that loads it. And initialize_without_rdma() takes something from it.
        std::thread([made] { *made = load(); }).join();
        return made;
    }();
    return loaded;
}

}  // namespace heddle::transport::ofi

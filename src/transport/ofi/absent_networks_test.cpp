// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/absent_networks.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <string>

namespace heddle::transport::ofi {
namespace {

/// Returns the file of the library that has this name in the process; empty if there is none.
std::string path_of(const char* name) {
    void* const handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) return {};
    link_map* map = nullptr;
    const bool known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0;
    std::string path = known ? map->l_name : "?";
    dlclose(handle);
    return path;
}

TEST(AbsentNetworks, are_not_loaded_with_libfabric) {
    if (!library().missing.empty()) GTEST_SKIP() << library().missing;
    if (has_rdma_devices()) GTEST_SKIP() << "there are devices";
    for (const char* name : {"libpsm_infinipath.so.1", "libpsm2.so.2"}) {
        const std::string path = path_of(name);
        EXPECT_TRUE(path.empty() || path.starts_with("/proc/self/")) << path;
    }
}

TEST(AbsentNetworks, have_no_device) {
    const AbsentNetworks absent;
    struct Entry {
        const char *library, *function;
    };
    for (const auto& [name, function] :
         {Entry{"libpsm_infinipath.so.1", "psm_init"}, Entry{"libpsm2.so.2", "psm2_init"}}) {
        void* const handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
        ASSERT_NE(handle, nullptr) << name;
        auto* const init = reinterpret_cast<int (*)(int*, int*)>(dlsym(handle, function));
        ASSERT_NE(init, nullptr) << function;
        int major = 1, minor = 0;
        EXPECT_NE(init(&major, &minor), 0);
        dlclose(handle);
    }
}

}  // namespace
}  // namespace heddle::transport::ofi

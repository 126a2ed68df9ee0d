// SPDX-License-Identifier: BSD-3-Clause
#include "places.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "hangs/lines.hpp"
#include "node.hpp"

namespace heddle::check {

namespace {

constexpr int address_bits = 48;
constexpr std::uint64_t own_number = 1
    << 15;  ///< of modules that only this process knows by number

/// Never destroyed: threads of the program may call MPI to the end.
struct Modules {
    std::mutex guard;
    std::vector<std::string> own;
    std::map<Place, std::string> locations;
};
Modules& modules() {
    static Modules& all = *new Modules;
    return all;
}

std::string path_of(const char* name) {
    std::array<char, PATH_MAX> path{};
    if (name[0] == '/') return name;
    const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
    return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : name;
}

bool is_binding(const char* path) {
    const char* slash = std::strrchr(path, '/');
    const char* name = slash == nullptr ? path : slash + 1;
    for (const char* const prefix : {"libheddle", "libmpi", "libmpich", "libmpifort", "libompi"})
        if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) return true;
    return false;
}

struct Found {
    Place place = 0;
    bool binding = false;
};

Found find_place(const void* from) {
    // The call itself ends before the address at which it comes back.
    const void* const call = static_cast<const char*>(from) - 1;
    Dl_info info{};
    link_map* map = nullptr;
    if (::dladdr1(call, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
        map == nullptr)
        return {};
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(call) - map->l_addr;
    const std::string path = path_of(info.dli_fname);
    std::uint64_t number = 0;
    if (Node* node = Node::get()) {
        number = node->module(path.c_str());
    } else {
        const std::lock_guard<std::mutex> held(modules().guard);
        auto& own = modules().own;
        std::size_t i = 0;
        while (i < own.size() && own[i] != path) ++i;
        if (i == own.size()) own.push_back(path);
        number = own_number | i;
    }
    return {number << address_bits | (address & ((std::uint64_t{1} << address_bits) - 1)),
            is_binding(path.c_str())};
}

/// The place of the first frame outside of the bindings and the checker.
Place walk(const void* from) {
    std::array<void*, 16> frames{};
    const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
    for (int i = 0; i < count; ++i) {
        const Found found = find_place(frames[static_cast<std::size_t>(i)]);
        if (found.place != 0 && !found.binding) return found.place;
    }
    return find_place(from).place;
}

}  // namespace

Place place_of(const void* from) noexcept try {
    struct Entry {
        const void* from;
        Found found;
        bool with_node;
    };
    thread_local std::array<Entry, 64> known{};
    if (from == nullptr) return 0;
    Entry& entry = known[(reinterpret_cast<std::uintptr_t>(from) >> 1) % known.size()];
    const bool with_node = Node::get() != nullptr;
    if (entry.from != from || entry.with_node != with_node)
        entry = {from, find_place(from), with_node};
    return entry.found.binding ? walk(from) : entry.found.place;
} catch (...) {
    return 0;
}

std::string location_of(Place place) {
    if (place == 0) return {};
    const std::uint64_t number = place >> address_bits;
    const std::uint64_t address = place & ((std::uint64_t{1} << address_bits) - 1);
    const std::lock_guard<std::mutex> held(modules().guard);
    if (const auto found = modules().locations.find(place); found != modules().locations.end())
        return found->second;
    std::string path;
    if ((number & own_number) != 0)
        path = modules().own[number & ~own_number];
    else if (Node* node = Node::get())
        path = node->module(static_cast<std::uint32_t>(number));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    return modules().locations[place] = hangs::lines_of(path, {address}, end).front();
}

}  // namespace heddle::check

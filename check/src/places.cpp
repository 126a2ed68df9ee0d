// SPDX-License-Identifier: BSD-3-Clause
#include "places.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <array>
#include <climits>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "hangs/lines.hpp"
#include "node.hpp"

namespace heddle::check {

namespace {

constexpr int address_bits = 48;
constexpr std::uint64_t own_number = 1
    << 15;  ///< for modules with numbers that only this process knows

/// All modules. They are never destroyed: threads of the program may call MPI to the end.
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
    // The call lies before its return address.
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

/// The places of calls. Each is looked up once, since asking the loader takes microseconds.
struct Known {
    std::shared_mutex guard;
    std::unordered_map<const void*, Found> places;
};
Known& known_places() {
    static Known& all = *new Known;
    return all;
}

Found look_up(const void* from) {
    Known& all = known_places();
    {
        std::shared_lock held(all.guard);
        if (const auto entry = all.places.find(from); entry != all.places.end())
            return entry->second;
    }
    const Found found = find_place(from);
    std::unique_lock held(all.guard);
    return all.places.emplace(from, found).first->second;
}

}  // namespace

namespace {

/// Returns the place from a cache. Numbers of modules are those of the node once there is one.
/// Nothing is cached before.
Found known_place(const void* from) {
    if (Node::get() == nullptr) return find_place(from);
    struct Entry {
        const void* from;
        Found found;
    };
    thread_local std::array<Entry, 256> last{};
    const auto address = reinterpret_cast<std::uintptr_t>(from);
    Entry& entry = last[(address ^ address >> 8) % last.size()];
    if (entry.from != from) entry = {from, look_up(from)};
    return entry.found;
}

// ---- Calls through bindings ----

/// The first frame outside of the bindings: its address, its place, and where the address lies on
/// the stack.
struct Outer {
    const void* address = nullptr;
    Place place = 0;
    std::ptrdiff_t slot = 0;  ///< distance from the caller's frame; 0 if it is unknown
};

struct Walk {
    Caller from;
    bool begun = false;
    Outer outer;
};

std::ptrdiff_t slot_of(const void* address, const char* from, const char* to) noexcept {
    constexpr std::ptrdiff_t word = sizeof(void*);
    for (const char* at = to - word; at >= from; at -= word)
        if (std::memcmp(at, &address, sizeof address) == 0) return at - from;
    return 0;
}

_Unwind_Reason_Code visit(_Unwind_Context* context, void* data) {
    Walk& walk = *static_cast<Walk*>(data);
    const void* const address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
    walk.begun = walk.begun || address == walk.from.address;
    if (!walk.begun) return _URC_NO_REASON;
    const Found found = known_place(address);
    if (found.place == 0 || found.binding) return _URC_NO_REASON;
    const auto* const end = reinterpret_cast<const char*>(_Unwind_GetCFA(context));
    walk.outer = {address, found.place, slot_of(address, walk.from.frame, end)};
    return _URC_END_OF_STACK;
}

/// Returns the place of the call outside of the bindings. Walking the stack takes microseconds. A
/// function of a binding has a frame of one size. So the slot of the program's address is
/// remembered. The address there is believed if a walk has found it there before.
Place place_outside(Caller from) {
    struct Entry {
        const void* from;
        Outer outer;
    };
    thread_local std::array<Entry, 64> last{};
    thread_local std::array<Entry, 256> walked{};
    const auto hash = [](const void* address) {
        return reinterpret_cast<std::uintptr_t>(address) >> 2;
    };
    Entry& known = last[hash(from.address) % last.size()];
    if (known.from == from.address && known.outer.slot != 0) {
        const void* outer = nullptr;
        std::memcpy(&outer, from.frame + known.outer.slot, sizeof outer);
        const Entry& seen = walked[(hash(from.address) ^ hash(outer)) % walked.size()];
        if (seen.from == from.address && seen.outer.address == outer) return seen.outer.place;
    }
    Walk walk{from, false, {}};
    _Unwind_Backtrace(visit, &walk);
    const Outer& outer = walk.outer;
    if (outer.place == 0 || Node::get() == nullptr)
        return outer.place != 0 ? outer.place : known_place(from.address).place;
    known = {from.address, outer};
    walked[(hash(from.address) ^ hash(outer.address)) % walked.size()] = {from.address, outer};
    return outer.place;
}

}  // namespace

Place place_of(Caller from) noexcept try {
    if (from.address == nullptr) return 0;
    const Found found = known_place(from.address);
    return found.binding ? place_outside(from) : found.place;
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
        path = (number & ~own_number) < modules().own.size() ? modules().own[number & ~own_number]
                                                             : "";
    else if (Node* node = Node::get())
        path = node->module(static_cast<std::uint32_t>(number));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    return modules().locations[place] = hangs::lines_of(path, {address}, end).front();
}

}  // namespace heddle::check

// SPDX-License-Identifier: BSD-3-Clause
#include "rma/dynamic.hpp"

#include <algorithm>
#include <mutex>
#include <span>

#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "rma/control.hpp"

namespace heddle::rma {
namespace {

using core::Thread;
using objects::Window;

std::span<Region> regions_of(const Window& window, std::int32_t rank) noexcept {
    const std::size_t used = state_of(window, rank).regions.load(acquire);  // A2: pairs with R2
    return {window.regions + static_cast<std::size_t>(rank) * most_regions, used};
}
std::span<Region> own_regions(const Window& window) noexcept {
    return regions_of(window, window.communicator->rank);
}

std::uint64_t number(const void* base) noexcept { return reinterpret_cast<std::uint64_t>(base); }

bool overlaps(const Region& region, std::uint64_t address, std::uint64_t bytes) noexcept {
    const std::uint64_t begin = region.address.load(relaxed), length = region.bytes.load(relaxed);
    return length != 0 && address < begin + length && begin < address + bytes;
}

/// Returns a region that holds nothing, or nullptr if there is none.
Region* free_region(const Window& window, std::span<Region> used) noexcept {
    const auto free = std::find_if(used.begin(), used.end(), [](const Region& region) {
        return region.bytes.load(relaxed) == 0;
    });
    if (free != used.end()) return &*free;
    if (used.size() == most_regions) return nullptr;
    state_of(window, window.communicator->rank)
        .regions.store(static_cast<std::uint32_t>(used.size() + 1), release);  // R2: it is empty
    return used.data() + used.size();
}

/// Returns the region that holds this address. It has no bytes if there is none.
FoundRegion region_at(const Window& window, std::int32_t rank, std::uint64_t address) noexcept {
    for (const Region& region : regions_of(window, rank)) {
        const std::uint64_t length = region.bytes.load(acquire);  // A1: pairs with R1
        const std::uint64_t begin = region.address.load(relaxed);
        if (begin <= address && address - begin < length) return {begin, length};
    }
    return {};
}

int not_dynamic(Thread& thread, Window& window) {
    return objects::fail(thread, window, MPI_ERR_RMA_FLAVOR,
                         "argument win: not a window of MPI_Win_create_dynamic");
}

std::string at(const void* base) { return "memory at " + std::to_string(number(base)); }

}  // namespace

int attach(Thread& thread, Window& window, const void* base, std::int64_t bytes) {
    if (window.flavor != MPI_WIN_FLAVOR_DYNAMIC) return not_dynamic(thread, window);
    if (bytes == 0) return MPI_SUCCESS;
    const auto length = static_cast<std::uint64_t>(bytes);
    const char* wrong = nullptr;
    {
        std::lock_guard guard(thread.process->set_up);
        const std::span<Region> regions = own_regions(window);
        if (std::any_of(regions.begin(), regions.end(), [&](const Region& region) {
                return overlaps(region, number(base), length);
            }))
            wrong = "a part of it is attached already";
        else if (Region* free = free_region(window, regions)) {
            free->address.store(number(base), relaxed);
            free->bytes.store(length, release);  // R1
        } else {
            wrong = "as much is attached as there can be, 262144 pieces";
        }
    }
    if (wrong == nullptr) return MPI_SUCCESS;
    return objects::fail(thread, window, MPI_ERR_RMA_ATTACH, at(base) + ": " + wrong);
}

int detach(Thread& thread, Window& window, const void* base) {
    if (window.flavor != MPI_WIN_FLAVOR_DYNAMIC) return not_dynamic(thread, window);
    {
        std::lock_guard guard(thread.process->set_up);
        for (Region& region : own_regions(window)) {
            if (region.bytes.load(relaxed) == 0 || region.address.load(relaxed) != number(base))
                continue;
            region.bytes.store(0, release);
            return MPI_SUCCESS;
        }
    }
    return objects::fail(thread, window, MPI_ERR_RMA_ATTACH, at(base) + " is not attached");
}

/// Returns the region that contains the memory. Regions that lie side by side count as one.
FoundRegion attached_region(const Window& window, std::int32_t rank, std::uint64_t address,
                            std::uint64_t bytes) noexcept {
    FoundRegion found = region_at(window, rank, address);
    while (found.bytes != 0 && bytes > found.bytes - (address - found.address)) {
        const FoundRegion next = region_at(window, rank, found.address + found.bytes);
        if (next.bytes == 0) return {};
        found.bytes = next.address + next.bytes - found.address;
    }
    return found;
}

}  // namespace heddle::rma

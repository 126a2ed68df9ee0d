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
    return {window.regions + static_cast<std::size_t>(rank) * most_regions, most_regions};
}
std::span<Region> own_regions(const Window& window) noexcept {
    return regions_of(window, window.communicator->rank);
}

std::uint64_t number(const void* base) noexcept { return reinterpret_cast<std::uint64_t>(base); }

bool overlaps(const Region& region, std::uint64_t address, std::uint64_t bytes) noexcept {
    const std::uint64_t begin = region.address.load(relaxed), length = region.bytes.load(relaxed);
    return length != 0 && address < begin + length && begin < address + bytes;
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
        const auto free = std::find_if(regions.begin(), regions.end(), [](const Region& region) {
            return region.bytes.load(relaxed) == 0;
        });
        if (std::any_of(regions.begin(), regions.end(), [&](const Region& region) {
                return overlaps(region, number(base), length);
            }))
            wrong = "a part of it is attached already";
        else if (free == regions.end())
            wrong = "as much is attached as there can be, 4096 pieces";
        else {
            free->address.store(number(base), relaxed);
            free->bytes.store(length, release);  // R1
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

FoundRegion attached_region(const Window& window, std::int32_t rank, std::uint64_t address,
                            std::uint64_t bytes) noexcept {
    for (const Region& region : regions_of(window, rank)) {
        const std::uint64_t length = region.bytes.load(acquire);  // A1: pairs with R1
        if (length == 0) continue;
        const std::uint64_t begin = region.address.load(relaxed);
        if (begin <= address && address - begin <= length && bytes <= length - (address - begin))
            return {begin, length};
    }
    return {};
}

}  // namespace heddle::rma

// SPDX-License-Identifier: BSD-3-Clause
/// Memory and addresses (MPI 5.0, 9.2 and 5.1.5), and the hardware of the machine (9.1.2).

#include <bit>
#include <charconv>
#include <cstdlib>

#include "api/entry.hpp"
#include "api/object_arguments.hpp"
#include "platform/hardware.hpp"

namespace heddle::api {
namespace {

using core::Thread;

/// Returns the program's mpi_minimum_memory_alignment, or a cache line.
std::size_t alignment_of(const Hints& hints) {
    std::size_t alignment = cache_line;
    if (hints.object == nullptr) return alignment;
    std::lock_guard guard(objects::info_lock());
    if (const auto wanted = hints->get("mpi_minimum_memory_alignment")) {
        std::size_t bytes = 0;
        const auto [end, problem] =
            std::from_chars(wanted->data(), wanted->data() + wanted->size(), bytes);
        constexpr std::size_t most = std::size_t{1} << 30;
        if (problem == std::errc{} && bytes > alignment && bytes <= most)
            alignment = std::bit_ceil(bytes);
    }
    return alignment;
}

/// Returns memory that windows on it reach by load and store. Returns nullptr if malloc() serves
/// better.
void* node_memory(Thread& thread, std::size_t bytes, std::size_t alignment) {
    using objects::NodeMemory;
    if (bytes < NodeMemory::least_bytes || alignment > NodeMemory::alignment) return nullptr;
    return thread.process->node_memory.take(bytes);
}

int alloc_mem(Thread& thread, Raw<MPI_Aint> size, Hints hints, OutPointer place) {
    if (size.value < 0)
        return objects::fail(thread, nullptr, MPI_ERR_ARG,
                             "argument size: " + std::to_string(size.value) + " is negative");
    const auto bytes = static_cast<std::size_t>(size.value);
    const std::size_t alignment = alignment_of(hints);
    *place.place = node_memory(thread, bytes, alignment);
    if (*place.place != nullptr) return MPI_SUCCESS;
    const int problem = posix_memalign(place.place, alignment, bytes);
    if (problem == 0) return MPI_SUCCESS;
    return objects::fail(thread, nullptr, MPI_ERR_NO_MEM,
                         "no memory for " + std::to_string(size.value) + " bytes");
}

int free_mem(Thread& thread, Raw<void*> memory) {
    if (!is_memory_or_null(memory.value))
        return refuse(thread, nullptr, MPI_ERR_BASE, "base", no_memory(memory.value));
    if (!thread.process->node_memory.give(memory.value)) std::free(memory.value);
    return MPI_SUCCESS;
}

int get_address(Thread&, Raw<const void*> location, Out<MPI_Aint> address) {
    *address = reinterpret_cast<MPI_Aint>(location.value);
    return MPI_SUCCESS;
}

/// Tells for each kind of MPI_COMM_TYPE_HW_GUIDED whether the process is restricted to one of that
/// kind. All processes share memory.
int get_hw_resource_info(Thread&, Out<MPI_Info> result) {
    objects::Info& info = objects::make_info();
    info.set("mpi_shared_memory", "true");
    for (const char* kind : platform::kinds_of_hardware)
        info.set(std::string(platform::hardware_prefix) + kind,
                 platform::hardware_of_process(kind) >= 0 ? "true" : "false");
    *result = objects::handle_of(info);
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(3, Alloc_mem, alloc_mem)
MPI_ENTRY(1, Free_mem, free_mem)
MPI_ENTRY(2, Get_address, get_address)
MPI_ENTRY(1, Get_hw_resource_info, get_hw_resource_info)

extern "C" {

MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp) {
    // The sum is one of unsigned numbers, which wrap around.
    return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) +
                                 static_cast<std::uintptr_t>(disp));
}
MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
    return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(addr1) -
                                 static_cast<std::uintptr_t>(addr2));
}
int PMPI_Pcontrol(const int, ...) { return MPI_SUCCESS; }

}  // extern "C"

HEDDLE_ALIAS(Aint_add)
HEDDLE_ALIAS(Aint_diff)
HEDDLE_ALIAS(Pcontrol)

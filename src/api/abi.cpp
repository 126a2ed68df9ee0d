// SPDX-License-Identifier: BSD-3-Clause
/// Questions that the ABI leaves open, and properties of Fortran (MPI 5.0, 20). May be called at
/// any time.

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "api/entry.hpp"
#include "api/object_arguments.hpp"

namespace heddle::api {
namespace {

/// Properties of the Fortran compiler, as the program has set them. They belong to the program, not
/// to a Process.
struct Fortran {
    std::mutex lock;
    bool known = false;
    std::vector<std::pair<std::string, std::string>> info;
    struct Booleans {
        std::vector<unsigned char> yes;
        std::vector<unsigned char> no;
    };
    std::map<int, Booleans> booleans;  ///< by size of the LOGICAL, in bytes
};

Fortran& fortran() noexcept {
    static Fortran& all = *new Fortran;
    return all;
}

int abi_info(Anytime&, Out<MPI_Info> result) {
    objects::Info& info = objects::make_info();
    info.set("mpi_aint_size", std::to_string(sizeof(MPI_Aint)));
    info.set("mpi_count_size", std::to_string(sizeof(MPI_Count)));
    info.set("mpi_offset_size", std::to_string(sizeof(MPI_Offset)));
    info.set("heddle_request_toint", "lower half of the address");  // api/handles.cpp
    *result = objects::handle_of(info);
    return MPI_SUCCESS;
}

int set_fortran_info(Anytime& caller, Info info) {
    Fortran& all = fortran();
    std::unique_lock guard(all.lock);
    if (all.known) {
        guard.unlock();
        return caller.fail(MPI_ERR_ABI, "the properties of Fortran have been set before");
    }
    all.known = true;
    std::lock_guard entries(objects::info_lock());
    all.info = info->entries;
    return MPI_SUCCESS;
}

int get_fortran_info(Anytime&, Out<MPI_Info> result) {
    Fortran& all = fortran();
    std::lock_guard guard(all.lock);
    *result = MPI_INFO_NULL;
    if (!all.known) return MPI_SUCCESS;
    objects::Info& info = objects::make_info();
    info.entries = all.info;
    *result = objects::handle_of(info);
    return MPI_SUCCESS;
}

int wrong_size(Anytime& caller, int size) {
    return caller.fail(
        MPI_ERR_ARG, "argument logical_size: " + std::to_string(size) + " is not 1, 2, 4, 8 or 16");
}

bool is_logical_size(int size) noexcept {
    return size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
}

int set_fortran_booleans(Anytime& caller, Raw<int> size, Array<void> yes, Array<void> no) {
    if (!is_logical_size(size.value)) return wrong_size(caller, size.value);
    if (yes.value == nullptr || no.value == nullptr)
        return caller.fail(MPI_ERR_ARG, "argument logical_true or logical_false: a null pointer");
    Fortran& all = fortran();
    const auto* first = static_cast<const unsigned char*>(yes.value);
    const auto* second = static_cast<const unsigned char*>(no.value);
    Fortran::Booleans values{{first, first + size.value}, {second, second + size.value}};
    std::unique_lock guard(all.lock);
    const bool is_new = all.booleans.try_emplace(size.value, std::move(values)).second;
    guard.unlock();
    if (is_new) return MPI_SUCCESS;
    return caller.fail(MPI_ERR_ABI, "the values of this LOGICAL have been set before");
}

int get_fortran_booleans(Anytime& caller, Raw<int> size, Array<void> yes, Array<void> no,
                         Out<int> is_set) {
    if (!is_logical_size(size.value)) return wrong_size(caller, size.value);
    Fortran& all = fortran();
    std::lock_guard guard(all.lock);
    const auto at = all.booleans.find(size.value);
    *is_set = at != all.booleans.end();
    if (!*is_set) return MPI_SUCCESS;
    if (yes.value != nullptr) std::memcpy(yes.value, at->second.yes.data(), at->second.yes.size());
    if (no.value != nullptr) std::memcpy(no.value, at->second.no.data(), at->second.no.size());
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY_ANYTIME(1, Abi_get_info, abi_info)
MPI_ENTRY_ANYTIME(1, Abi_set_fortran_info, set_fortran_info)
MPI_ENTRY_ANYTIME(1, Abi_get_fortran_info, get_fortran_info)
MPI_ENTRY_ANYTIME(3, Abi_set_fortran_booleans, set_fortran_booleans)
MPI_ENTRY_ANYTIME(4, Abi_get_fortran_booleans, get_fortran_booleans)

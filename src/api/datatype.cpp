// SPDX-License-Identifier: BSD-3-Clause
/// Properties of a datatype, its name and its life (MPI 5.0, 5.1 and 7.8); the content of a status
/// in elements.

#include "api/datatype_arguments.hpp"
#include "api/object_arguments.hpp"
#include "api/type_attributes.hpp"
#include "objects/status.hpp"

namespace heddle::api {
namespace {

template <class T>
int type_size(Thread&, AnyType type, Out<T> size) {
    *size = or_undefined<T>(type->size);
    return MPI_SUCCESS;
}

template <class T>
int type_extent(Thread&, AnyType type, Out<T> lower, Out<T> extent) {
    *lower = type->lower_bound;
    *extent = type->extent;
    return MPI_SUCCESS;
}

template <class T>
int type_true_extent(Thread&, AnyType type, Out<T> lower, Out<T> extent) {
    *lower = type->true_lower_bound;
    *extent = type->true_extent;
    return MPI_SUCCESS;
}

/// A type, or the null handle, which has a name, too.
struct NamedType : AnyType {
    bool null;

    NamedType(Process& process, MPI_Datatype handle) noexcept
        : AnyType(process, handle), null(handle == MPI_DATATYPE_NULL) {}
    int error(const Communicator* communicator) const noexcept {
        return null ? MPI_SUCCESS : AnyType::error(communicator);
    }
};

int type_get_name(Thread& thread, NamedType type, Out<char> name, Out<int> length) {
    std::lock_guard guard(thread.process->set_up);
    *length =
        write_text(type.null ? "MPI_DATATYPE_NULL" : type->name, name.place, MPI_MAX_OBJECT_NAME);
    return MPI_SUCCESS;
}

int type_set_name(Thread& thread, AnyType type, Text name) {
    std::lock_guard guard(thread.process->set_up);
    type->name = std::string(name.value).substr(0, MPI_MAX_OBJECT_NAME - 1);
    return MPI_SUCCESS;
}

int type_commit(Thread& thread, InOut<MPI_Datatype> handle) {
    const AnyType type(*thread.process, *handle);
    if (type.object == nullptr)
        return objects::fail(thread, nullptr, MPI_ERR_TYPE,
                             "argument datatype: " + type.wrong(nullptr));
    type.object->committed = true;
    return MPI_SUCCESS;
}

std::string describe(Thread& thread, const objects::Datatype& type) {
    std::lock_guard guard(thread.process->set_up);
    return type.name.empty() ? "a predefined datatype" : type.name;
}

int type_free(Thread& thread, InOut<MPI_Datatype> handle) {
    const AnyType type(*thread.process, *handle);
    if (type.object == nullptr)
        return objects::fail(thread, nullptr, MPI_ERR_TYPE,
                             "argument datatype: " + type.wrong(nullptr));
    if (type->permanent)
        return objects::fail(thread, nullptr, MPI_ERR_TYPE,
                             "argument datatype: " + describe(thread, *type) + " cannot be freed");
    if (const int error = delete_attributes(thread, *type.object)) return error;
    objects::close_handle(*thread.process, *type.object);
    *handle = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

// --- statuses ---

template <class T>
int get_count(Thread&, FilledStatus status, AnyType type, Out<T> count) {
    *count = or_undefined<T>(objects::count_in(objects::bytes_of(*status), *type.object));
    return MPI_SUCCESS;
}

template <class T>
int get_elements(Thread&, FilledStatus status, AnyType type, Out<T> count) {
    *count = or_undefined<T>(objects::elements_in(objects::bytes_of(*status), *type.object));
    return MPI_SUCCESS;
}

int set_elements(Thread& thread, Out<MPI_Status> status, AnyType type, Count count) {
    const std::int64_t bytes = objects::bytes_of_elements(count.value, *type.object);
    if (bytes < 0)
        return objects::fail(
            thread, nullptr, MPI_ERR_COUNT,
            "argument count: the datatype has no data, or there would be more than 2^63 bytes");
    objects::set_bytes(*status, static_cast<std::uint64_t>(bytes));
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(2, Type_size, type_size<int>)
MPI_ENTRY(2, Type_size_c, type_size<MPI_Count>)
MPI_ENTRY(2, Type_size_x, type_size<MPI_Count>)
MPI_ENTRY(3, Type_get_extent, type_extent<MPI_Aint>)
MPI_ENTRY(3, Type_get_extent_c, type_extent<MPI_Count>)
MPI_ENTRY(3, Type_get_extent_x, type_extent<MPI_Count>)
MPI_ENTRY(3, Type_get_true_extent, type_true_extent<MPI_Aint>)
MPI_ENTRY(3, Type_get_true_extent_c, type_true_extent<MPI_Count>)
MPI_ENTRY(3, Type_get_true_extent_x, type_true_extent<MPI_Count>)
MPI_ENTRY(3, Type_get_name, type_get_name)
MPI_ENTRY(2, Type_set_name, type_set_name)
MPI_ENTRY(1, Type_commit, type_commit)
MPI_ENTRY(1, Type_free, type_free)
MPI_ENTRY(3, Get_count, get_count<int>)
MPI_ENTRY(3, Get_count_c, get_count<MPI_Count>)
MPI_ENTRY(3, Get_elements, get_elements<int>)
MPI_ENTRY(3, Get_elements_c, get_elements<MPI_Count>)
MPI_ENTRY(3, Get_elements_x, get_elements<MPI_Count>)
MPI_ENTRY_C(3, Status_set_elements, set_elements)
MPI_ENTRY(3, Status_set_elements_x, set_elements)

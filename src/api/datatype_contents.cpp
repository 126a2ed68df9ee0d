// SPDX-License-Identifier: BSD-3-Clause
/// Tells how a datatype was made (MPI 5.0, 5.1.13).

#include <algorithm>

#include "api/datatype_arguments.hpp"
#include "objects/basic_types.hpp"
#include "objects/contents.hpp"
#include "objects/numeric_types.hpp"

namespace heddle::api {
MPI_Datatype handle_for(Process& process, const objects::Definition& type) {
    if (type.named != MPI_DATATYPE_NULL) return type.named;
    if (type.basic != nullptr) {
        const auto& made_with = type.recipe.integers;
        const int precision = made_with.size() == 1 ? MPI_UNDEFINED : made_with[0];
        return objects::numeric_type(process, type.recipe.combiner, precision, made_with.back(),
                                     type.basic->handle)
            .handle;
    }
    objects::hold(&type);
    return objects::make_datatype(process, objects::DefinitionPointer(&type)).handle;
}

namespace {

using objects::Contents;
using objects::Definition;

int made_large(Thread& thread) {
    return objects::fail(
        thread, nullptr, MPI_ERR_TYPE,
        "argument datatype: made by a large-count function; only the large-count form "
        "of this call can tell how");
}

int get_envelope(Thread& thread, AnyType type, Out<int> integers, Out<int> addresses,
                 Out<int> types, Out<int> combiner) {
    const Contents contents = objects::contents_of(*type->definition);
    if (!contents.counts.empty()) return made_large(thread);
    *integers = static_cast<int>(contents.integers.size());
    *addresses = static_cast<int>(contents.addresses.size());
    *types = static_cast<int>(contents.types.size());
    *combiner = contents.combiner;
    return MPI_SUCCESS;
}

int get_envelope_large(Thread&, AnyType type, Out<MPI_Count> integers, Out<MPI_Count> addresses,
                       Out<MPI_Count> counts, Out<MPI_Count> types, Out<int> combiner) {
    const Contents contents = objects::contents_of(*type->definition);
    *integers = static_cast<MPI_Count>(contents.integers.size());
    *addresses = static_cast<MPI_Count>(contents.addresses.size());
    *counts = static_cast<MPI_Count>(contents.counts.size());
    *types = static_cast<MPI_Count>(contents.types.size());
    *combiner = contents.combiner;
    return MPI_SUCCESS;
}

/// An array of the user's, with its length.
template <class T>
struct Room {
    const char* argument;
    std::int64_t most;
    T* array;

    int check(Thread& thread, std::size_t needed) const {
        if (most < 0 || static_cast<std::size_t>(most) < needed)
            return wrong(
                thread, argument,
                "there are " + std::to_string(needed) + ", and room for " + std::to_string(most));
        if (array == nullptr && needed > 0)
            return wrong(thread, argument, "the array is a null pointer");
        return MPI_SUCCESS;
    }
};

int write_contents(Thread& thread, const Contents& contents, Room<int> integers,
                   Room<MPI_Aint> addresses, Room<MPI_Count> counts, Room<MPI_Datatype> types) {
    if (contents.combiner == MPI_COMBINER_NAMED)
        return objects::fail(thread, nullptr, MPI_ERR_TYPE,
                             "argument datatype: a predefined type is not made of anything");
    if (const int error = integers.check(thread, contents.integers.size())) return error;
    if (const int error = addresses.check(thread, contents.addresses.size())) return error;
    if (const int error = counts.check(thread, contents.counts.size())) return error;
    if (const int error = types.check(thread, contents.types.size())) return error;
    std::copy(contents.integers.begin(), contents.integers.end(), integers.array);
    std::copy(contents.addresses.begin(), contents.addresses.end(), addresses.array);
    std::copy(contents.counts.begin(), contents.counts.end(), counts.array);
    for (std::size_t i = 0; i < contents.types.size(); ++i)
        types.array[i] = handle_for(*thread.process, *contents.types[i]);
    return MPI_SUCCESS;
}

int get_contents(Thread& thread, AnyType type, Raw<int> most_integers, Raw<int> most_addresses,
                 Raw<int> most_types, Array<int> integers, Array<MPI_Aint> addresses,
                 Array<MPI_Datatype> types) {
    const Contents contents = objects::contents_of(*type->definition);
    if (!contents.counts.empty()) return made_large(thread);
    return write_contents(thread, contents, {"max_integers", most_integers.value, integers.value},
                          {"max_addresses", most_addresses.value, addresses.value},
                          {"", 0, nullptr}, {"max_datatypes", most_types.value, types.value});
}

int get_contents_large(Thread& thread, AnyType type, Raw<MPI_Count> most_integers,
                       Raw<MPI_Count> most_addresses, Raw<MPI_Count> most_counts,
                       Raw<MPI_Count> most_types, Array<int> integers, Array<MPI_Aint> addresses,
                       Array<MPI_Count> counts, Array<MPI_Datatype> types) {
    const Contents contents = objects::contents_of(*type->definition);
    return write_contents(thread, contents, {"max_integers", most_integers.value, integers.value},
                          {"max_addresses", most_addresses.value, addresses.value},
                          {"max_large_counts", most_counts.value, counts.value},
                          {"max_datatypes", most_types.value, types.value});
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(5, Type_get_envelope, get_envelope)
MPI_ENTRY(6, Type_get_envelope_c, get_envelope_large)
MPI_ENTRY(7, Type_get_contents, get_contents)
MPI_ENTRY(9, Type_get_contents_c, get_contents_large)

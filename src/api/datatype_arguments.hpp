// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Kinds of arguments of datatype calls (see arguments.hpp).
///
/// Another argument is the length of an array, and may be wrong. So the implementation checks
/// whether the array is missing, and its values.

#include <cstdint>
#include <limits>
#include <string>

#include "api/entry.hpp"
#include "objects/datatype.hpp"

namespace heddle::api {

using core::Thread;

/// A type that need not be committed.
struct AnyType : Type {
    using Type::Type;
    int error(const Communicator*) const noexcept {
        return object == nullptr ? MPI_ERR_TYPE : MPI_SUCCESS;
    }
    void let_pass(Process&) = delete;  // types made of it contain it, whatever the count
};
HEDDLE_NAMED(OldType, AnyType, "oldtype")

/// A number of any sign, int or wide: a displacement, a stride, a bound.
struct Number {
    static constexpr const char* name = "argument";
    std::int64_t value;

    Number(const auto&, std::int64_t number) noexcept : value(number) {}
    int error(const Communicator*) const noexcept { return MPI_SUCCESS; }
    std::string wrong(const Communicator*) const { return {}; }
};

/// A number that is not negative, besides counts of elements.
struct Natural : Number {
    using Number::Number;
    int error(const Communicator*) const noexcept { return value < 0 ? MPI_ERR_ARG : MPI_SUCCESS; }
    std::string wrong(const Communicator*) const { return std::to_string(value) + " is negative"; }
};
HEDDLE_NAMED(BlockLength, Natural, "blocklength")

/// An array of numbers, int or wide.
struct Numbers {
    static constexpr const char* name = "array";
    static constexpr bool is_array = true;
    const int* narrow = nullptr;
    const std::int64_t* wide = nullptr;

    Numbers(const auto&, const int* raw) noexcept : narrow(raw) {}
    Numbers(const auto&, const std::int64_t* raw) noexcept : wide(raw) {}
    bool missing() const noexcept { return narrow == nullptr && wide == nullptr; }
    std::int64_t operator[](std::int64_t i) const noexcept {
        return narrow != nullptr ? narrow[i] : wide[i];
    }
    int error(const Communicator*) const noexcept {
        return is_memory_or_null(narrow) && is_memory_or_null(wide) ? MPI_SUCCESS : MPI_ERR_ARG;
    }
    std::string wrong(const Communicator*) const {
        return no_memory(narrow != nullptr ? static_cast<const void*>(narrow) : wide);
    }
};

/// Returns MPI_UNDEFINED if the value does not fit.
template <class T>
T or_undefined(std::int64_t value) noexcept {
    return value > std::numeric_limits<T>::max() ? static_cast<T>(MPI_UNDEFINED)
                                                 : static_cast<T>(value);
}

/// Fails the call for an argument that only the implementation can check.
inline int wrong(Thread& thread, const char* argument, const std::string& what) {
    return objects::fail(thread, nullptr, MPI_ERR_ARG,
                         std::string("argument ") + argument + ": " + what);
}

/// Gives the user a type. `made` is null if its definition did not fit.
inline int hand_out(Thread& thread, objects::DefinitionPointer made, Out<MPI_Datatype>& result) {
    if (!made)
        return objects::fail(thread, nullptr, MPI_ERR_ARG,
                             "the type would have bounds or data beyond 2^63 bytes");
    *result = objects::make_datatype(*thread.process, std::move(made)).handle;
    return MPI_SUCCESS;
}

/// Returns a handle for a type that is part of another, or of a view. It is predefined, or a new
/// one for the user to free.
MPI_Datatype handle_for(Process& process, const objects::Definition& type);

}  // namespace heddle::api

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// An operation of reductions and accumulations (MPI 5.0, 6.9): predefined, or the user's own.
///
/// Order          combine(left, right, result) makes result = left op right: the left operand comes
///                from the lower rank. Operands are never swapped, even if the operation is
///                commutative. So every rank that combines the same values gets the same bits.
/// Kernels        a predefined operation on a type it is defined for is one function on arrays. A
///                kernel needs no alignment. Its result may be in place of the right operand;
///                otherwise its arrays do not overlap.

#include <cstddef>
#include <cstdint>

#include "core/object.hpp"
#include "mpi.h"
#include "objects/datatype.hpp"

namespace heddle::objects {

enum class Builtin : std::uint8_t {
    sum,
    min,
    max,
    product,
    bit_and,
    bit_or,
    bit_xor,
    logical_and,
    logical_or,
    logical_xor,
    min_location,
    max_location,
    replace,
    no_op,
    none,  ///< the user's own
};
inline constexpr std::size_t builtins = static_cast<std::size_t>(Builtin::none);

struct Operation : core::Object {
    Operation* next = nullptr;
    MPI_Op handle = MPI_OP_NULL;
    const char* name = "an operation of the user";
    Builtin builtin = Builtin::none;
    bool commutative = true;
    MPI_User_function* function = nullptr;  ///< the user's function; it has one of the two
    MPI_User_function_c* large_function = nullptr;
};

/// Drops a reference. The last one destroys the operation.
void drop(Process& process, Operation& operation) noexcept;

using Kernel = void (*)(const std::byte* left, const std::byte* right, std::byte* result,
                        std::size_t count) noexcept;

/// Returns nullptr if the operation is not defined for the type, or is the user's own.
Kernel kernel_of(Builtin operation, const Datatype& type) noexcept;

/// Returns whether the bits of the result are the same for any order of the operands.
bool is_exact(Builtin operation, const Datatype& type) noexcept;

inline bool is_predefined(const Datatype& type) noexcept {
    return reinterpret_cast<std::uintptr_t>(type.handle) < 1024;
}

/// An operation on a type, ready to be applied.
struct Reduction {
    const Operation* operation = nullptr;
    const Datatype* type = nullptr;
    Kernel kernel = nullptr;  ///< nullptr: calls the user's function.
    /// Elements have gaps. So they travel in packed form, and are laid out before the function is
    /// called. (False for predefined pairs with gaps: their kernels, or the user's function, know
    /// the gaps.)
    bool packed = false;
    /// The bytes from one element to the next, in the form in which they travel.
    std::uint64_t element_bytes = 0;

    Reduction() = default;
    Reduction(const Operation& on, const Datatype& of) noexcept
        : operation(&on),
          type(&of),
          kernel(kernel_of(on.builtin, of)),
          packed(!of.contiguous && !is_predefined(of)),
          element_bytes(static_cast<std::uint64_t>(packed ? of.size : of.extent)) {}

    bool defined() const noexcept {
        return kernel != nullptr || operation->builtin == Builtin::none;
    }
    bool commutative() const noexcept { return operation->commutative; }
    bool exact() const noexcept { return is_exact(operation->builtin, *type); }
    /// Computes result = left op right, elementwise, on elements as they lie in the user's buffers.
    /// `result` may be `right`; otherwise nothing overlaps.
    void combine(const std::byte* left, const std::byte* right, std::byte* result,
                 std::size_t count) const {
        if (kernel != nullptr) [[likely]]
            return kernel(left, right, result, count);
        call_user(left, right, result, count);
    }

private:
    void call_user(const std::byte* left, const std::byte* right, std::byte* result,
                   std::size_t count) const;
};

}  // namespace heddle::objects

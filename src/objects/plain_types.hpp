// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Properties of predefined datatypes for short paths, which find them by the handle alone. They
/// take four bytes, which say nothing of any other datatype.

#include <array>
#include <cstdint>

#include "mpi.h"

namespace heddle::objects {

struct PlainType {
    std::uint8_t bytes = 0;  ///< of an element whose data are dense; 0 if it has gaps
    /// The same if the processor changes an element by one instruction; otherwise 0.
    std::uint8_t word = 0;
    bool adds = false;      ///< MPI_SUM is then an addition of integers
    bool compares = false;  ///< integers, logicals and bytes (MPI 5.0, 12.3.4)
};

class PlainTypes {
public:
    PlainType of(MPI_Datatype handle) const noexcept {
        const auto value = reinterpret_cast<std::uintptr_t>(handle);
        return value < types_.size() ? types_[value] : PlainType{};
    }
    /// Notes the properties of a type, while the predefined types are made.
    void note(MPI_Datatype handle, PlainType type) noexcept {
        types_[reinterpret_cast<std::uintptr_t>(handle)] = type;
    }

private:
    std::array<PlainType, 1024> types_{};
};

}  // namespace heddle::objects

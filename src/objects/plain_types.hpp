// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What short ways ask of a predefined datatype, found by its handle alone: four bytes, which say nothing of any
/// other datatype.

#include <array>
#include <cstdint>

#include "mpi.h"

namespace heddle::objects {

struct PlainType {
    std::uint8_t bytes = 0;  ///< of an element, whose data are dense; 0: it has gaps
    std::uint8_t word =
        0;              ///< the same if the processor changes such an element by one instruction
    bool adds = false;  ///< MPI_SUM is then an addition of integers
    bool compares = false;  ///< integers, logicals and bytes (MPI 5.0, 12.3.4)
};

class PlainTypes {
public:
    PlainType of(MPI_Datatype handle) const noexcept {
        const auto value = reinterpret_cast<std::uintptr_t>(handle);
        return value < types_.size() ? types_[value] : PlainType{};
    }
    /// While the predefined types are made.
    void note(MPI_Datatype handle, PlainType type) noexcept {
        types_[reinterpret_cast<std::uintptr_t>(handle)] = type;
    }

private:
    std::array<PlainType, 1024> types_{};
};

}  // namespace heddle::objects

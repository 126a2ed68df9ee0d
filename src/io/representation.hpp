// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The representation of data in a file (MPI 5.0, 14.5): native, internal, external32, and those
/// that the program registers.
///
/// internal       is the same as native: the processes of a job run on machines of one kind.
/// Layout         a filetype counts in extents of its basic types, which have other sizes in
///                another representation. layout_in() makes the same type of those extents.
///                Displacements in bytes stay the same.

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mpi.h"
#include "objects/definition.hpp"

namespace heddle::io {

struct Representation {
    enum class Kind : std::uint8_t { native, external32, programs };

    std::string name;
    Kind kind = Kind::native;
    // Functions of the program. If one is nullptr, data are in the file as they are in memory.
    MPI_Datarep_conversion_function* read = nullptr;
    MPI_Datarep_conversion_function* write = nullptr;
    MPI_Datarep_conversion_function_c* read_large = nullptr;
    MPI_Datarep_conversion_function_c* write_large = nullptr;
    MPI_Datarep_extent_function* extent = nullptr;
    void* extra_state = nullptr;

    bool is_native() const noexcept { return kind == Kind::native; }
};
using RepresentationPointer = std::shared_ptr<const Representation>;

class Representations {
public:
    Representations();
    /// Returns the representation of that name, or nullptr if there is none.
    RepresentationPointer find(const std::string& name) const;
    /// Adds a representation. Returns false if there is one of that name.
    bool add(Representation representation);

private:
    mutable std::mutex lock_;
    std::vector<RepresentationPointer> all_;
};

/// Returns the type with the extents of the representation. Returns null if it does not fit, or if
/// a function of the program has failed. The error is then a class of MPI or of the program. May
/// call functions of the program.
objects::DefinitionPointer layout_in(const Representation& representation,
                                     const objects::Definition& type, int& error);

}  // namespace heddle::io

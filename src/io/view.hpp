// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A view of a file (MPI 5.0, 14.3): the bytes that a process sees, their order, and their meaning.
///
/// Units          offsets of the program count etypes. Everything here counts the bytes of a view's
///                data, or places in bytes of the file.
/// Invariants     a view does not change; set_view makes another one. A pending access holds its
///                own.

#include <cstdint>
#include <memory>
#include <string>

#include "io/representation.hpp"
#include "mpi.h"
#include "objects/datatype.hpp"
#include "objects/sections.hpp"

namespace heddle::io {

struct View {
    std::int64_t displacement = 0;
    objects::DefinitionPointer etype, filetype;  ///< as the program gave them
    objects::DefinitionPointer layout;           ///< the filetype in the file
    RepresentationPointer representation;
    std::uint64_t unit = 1;  ///< bytes of an etype in the file
    objects::Pattern pattern;

    /// Returns whether anything can be accessed.
    bool has_data() const noexcept { return layout->size != 0; }
    /// Returns the data from the start. If filetypes overlap the next one, returns those of the
    /// first one alone, unless `all`.
    objects::Endless data(bool all = false) const noexcept {
        return pattern.repeats || all ? objects::Endless(*layout, displacement)
                                      : objects::Endless::first_of(*layout, displacement);
    }
    /// Returns whether the data have no gaps.
    bool dense() const noexcept { return has_data() && data().dense(); }
    /// Returns the bytes that lie together, on average.
    std::uint64_t run() const noexcept {
        if (dense()) return UINT64_MAX;
        const auto bytes = static_cast<std::uint64_t>(layout->size);
        return pattern.blocks == 0 ? bytes : bytes / pattern.blocks;
    }
    /// Returns the data below a place, in etypes, the last one whole.
    std::int64_t etypes_before(std::int64_t place) const noexcept;
};
using ViewPointer = std::shared_ptr<const View>;

/// The error of a view.
struct ViewError {
    int error_class = MPI_SUCCESS;
    const char* argument = "";
    std::string why;
};

/// Makes a view. Returns null with an error. `writable` says that the file may be written: then
/// nothing may overlap. Types that are pieces of the program's are held. May call functions of the
/// program.
ViewPointer make_view(std::int64_t displacement, const objects::Datatype& etype,
                      const objects::Datatype& filetype, RepresentationPointer representation,
                      bool writable, ViewError& error);

}  // namespace heddle::io

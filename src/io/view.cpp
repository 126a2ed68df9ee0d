// SPDX-License-Identifier: BSD-3-Clause
#include "io/view.hpp"

#include <utility>

namespace heddle::io {
namespace {

using objects::Definition;
using objects::DefinitionPointer;

DefinitionPointer held(const Definition& definition) {
    objects::hold(&definition);
    return DefinitionPointer(&definition);
}

ViewError wrong(int error_class, const char* argument, std::string why) {
    return {error_class, argument, std::move(why)};
}

/// Checks the types as the program made them.
ViewError check(const objects::Datatype& etype, const objects::Datatype& filetype) {
    if (etype.size <= 0 || etype.extent <= 0)
        return wrong(MPI_ERR_TYPE, "etype", "has no data, or an extent that is not positive");
    if (filetype.size % etype.size != 0)
        return wrong(MPI_ERR_TYPE, "filetype",
                     "has " + std::to_string(filetype.size) +
                         " bytes of data, which are not made of etypes of " +
                         std::to_string(etype.size));
    if (filetype.size != 0 && filetype.extent <= 0)
        return wrong(MPI_ERR_TYPE, "filetype",
                     "has the extent " + std::to_string(filetype.extent) +
                         ", so that it cannot be repeated");
    if (filetype.size != 0 && filetype.true_lower_bound < 0)
        return wrong(MPI_ERR_TYPE, "filetype", "has a negative displacement");
    return {};
}

ViewError check(const View& view, bool writable) {
    if (!view.has_data()) return {};
    if (!view.pattern.ordered)
        return wrong(MPI_ERR_TYPE, "filetype",
                     "has displacements that decrease along its type map");
    if (writable && !view.pattern.disjoint)
        return wrong(MPI_ERR_TYPE, "filetype",
                     "has regions that overlap, which a file that may be written must not have");
    return {};
}

}  // namespace

std::int64_t View::etypes_before(std::int64_t place) const noexcept {
    if (!has_data()) return 0;
    return static_cast<std::int64_t>((data().before(place) + unit - 1) / unit);
}

ViewPointer make_view(std::int64_t displacement, const objects::Datatype& etype,
                      const objects::Datatype& filetype, RepresentationPointer representation,
                      bool writable, ViewError& error) {
    error = check(etype, filetype);
    if (error.error_class != MPI_SUCCESS) return nullptr;
    auto view = std::make_shared<View>();
    view->displacement = displacement;
    view->etype = held(*etype.definition);
    view->filetype = held(*filetype.definition);
    view->representation = std::move(representation);
    int failed = MPI_SUCCESS;
    view->layout = layout_in(*view->representation, *filetype.definition, failed);
    const DefinitionPointer unit = view->layout
        ? layout_in(*view->representation, *etype.definition, failed)
        : DefinitionPointer{};
    if (!unit) {
        error = wrong(
            MPI_ERR_CONVERSION, "datarep",
            "the extent of a type in it is not to be had (error " + std::to_string(failed) + ")");
        return nullptr;
    }
    view->unit = static_cast<std::uint64_t>(unit->size);
    view->pattern = objects::pattern_of(*view->layout);
    error = check(*view, writable);
    if (error.error_class != MPI_SUCCESS) return nullptr;
    return view;
}

}  // namespace heddle::io

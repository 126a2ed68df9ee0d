// SPDX-License-Identifier: BSD-3-Clause
#include "rma/elements.hpp"

#include "objects/basic_types.hpp"
#include "objects/process.hpp"
#include "objects/type_walk.hpp"

namespace heddle::rma {
namespace {

using objects::Definition;

/// Returns whether the type is an element. Pairs are elements, as types of one value are.
bool is_element(const Definition& definition) noexcept {
    return definition.predefined || definition.basic != nullptr;
}

MPI_Datatype handle_of(const Definition& definition) noexcept {
    return definition.basic != nullptr ? definition.basic->handle : definition.named;
}

}  // namespace

ElementOperation operation_on(objects::Builtin operation,
                              const objects::Datatype& element) noexcept {
    using objects::Builtin;
    const bool integer =
        operation == Builtin::sum && objects::kernel_of(Builtin::bit_and, element) != nullptr;
    return {operation, objects::kernel_of(operation, element),
            static_cast<std::uint64_t>(element.size), element.extent, integer};
}

const objects::Datatype* element_of(objects::Process& process, const objects::Datatype& type) {
    if (objects::is_predefined(type)) return &type;
    MPI_Datatype found = MPI_DATATYPE_NULL;
    bool same = true;
    objects::walk_until(*type.definition, 0, 1, is_element,
                        [&](const Definition& element, objects::Place, std::int64_t) {
                            const MPI_Datatype handle = handle_of(element);
                            if (found == MPI_DATATYPE_NULL) found = handle;
                            same = same && found == handle;
                        });
    return same && found != MPI_DATATYPE_NULL ? process.datatype(found) : nullptr;
}

Runs::Runs(const objects::Datatype& type, objects::Place place, std::int64_t count) {
    if (objects::is_predefined(type)) {
        one_ = {place, count};
        count_ = count;
        return;
    }
    objects::walk_until(*type.definition, place, count, is_element,
                        [&](const Definition& element, objects::Place at, std::int64_t length) {
                            count_ += length;
                            if (!many_.empty()) {
                                Run& last = many_.back();
                                const objects::Place end = objects::moved(
                                    last.place, static_cast<std::uint64_t>(last.count),
                                    element.extent);
                                if (end == at) {
                                    last.count += length;
                                    return;
                                }
                            }
                            many_.push_back({at, length});
                        });
}

}  // namespace heddle::rma

// SPDX-License-Identifier: BSD-3-Clause
#include "objects/datatype.hpp"

#include <algorithm>
#include <new>

#include "objects/process.hpp"

namespace heddle::objects {
namespace {

/// Two ways to measure a type: bytes of data, and basic elements.
using Measure = std::int64_t Definition::*;

/// Goes down to where `amount` of one measure of the elements ends, and returns the other measure
/// up to there. If the amount ends within a basic element, `amount` keeps the rest.
std::int64_t convert(const Definition* type, std::int64_t& amount, Measure from,
                     Measure to) noexcept {
    std::int64_t result = 0;
    while (amount > 0) {
        const std::int64_t whole = amount / type->*from;
        result += whole * type->*to;
        amount -= whole * type->*from;
        if (type->parts() == 0) break;
        // `amount` ends within one element now: skip whole parts.
        const Definition* inner = nullptr;
        for (std::int64_t i = 0; amount > 0 && inner == nullptr; ++i) {
            const Part part = type->part(i);
            const std::int64_t each = part.length == 0 ? 0 : part.type->*from;
            if (each == 0) continue;
            const std::int64_t passed = std::min(part.length, amount / each);
            result += passed * part.type->*to;
            amount -= passed * each;
            if (passed < part.length) inner = part.type;
        }
        if (inner == nullptr) break;
        type = inner;
    }
    return result;
}

}  // namespace

Datatype& make_datatype(Process& process, DefinitionPointer definition) {
    Datatype* type = Process::make(process.datatypes, core::Kind::datatype);
    if (type == nullptr) throw std::bad_alloc();
    static_cast<Geometry&>(*type) = *definition;
    type->definition = std::move(definition);
    type->handle = reinterpret_cast<MPI_Datatype>(type);
    type->committed = false;
    type->permanent = false;
    return *type;
}

void drop(Process& process, Datatype& type) noexcept {
    if (!type.release_reference()) return;
    type.name.clear();
    type.definition = {};
    Process::destroy(process.datatypes, type);
}

void close_handle(Process& process, Datatype& type) noexcept {
    type.kind.store(core::Kind::none, relaxed);
    drop(process, type);
}

std::int64_t count_in(std::uint64_t bytes, const Datatype& type) noexcept {
    const auto each = static_cast<std::uint64_t>(type.size);
    if (each == 0) return bytes == 0 ? 0 : std::int64_t{MPI_UNDEFINED};
    return bytes % each == 0 ? static_cast<std::int64_t>(bytes / each)
                             : std::int64_t{MPI_UNDEFINED};
}

std::int64_t elements_in(std::uint64_t bytes, const Datatype& type) noexcept {
    if (type.size == 0) return bytes == 0 ? 0 : std::int64_t{MPI_UNDEFINED};
    auto rest = static_cast<std::int64_t>(bytes);
    const std::int64_t elements =
        convert(type.definition.get(), rest, &Definition::size, &Definition::elements);
    return rest == 0 ? elements : std::int64_t{MPI_UNDEFINED};
}

std::int64_t bytes_of_elements(std::int64_t elements, const Datatype& type) noexcept {
    const Definition& definition = *type.definition;
    if (elements == 0) return 0;
    if (definition.elements == 0) return -1;
    std::int64_t product = 0;
    if (__builtin_mul_overflow(elements / definition.elements + 1, definition.size, &product))
        return -1;
    return convert(&definition, elements, &Definition::elements, &Definition::size);
}

}  // namespace heddle::objects

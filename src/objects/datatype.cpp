// SPDX-License-Identifier: BSD-3-Clause
#include "objects/datatype.hpp"

#include <new>

#include "objects/process.hpp"

namespace heddle::objects {
namespace {

Datatype& make(Process& process) {
    Datatype* type = Process::make(process.datatypes, core::Kind::datatype);
    if (type == nullptr) throw std::bad_alloc();
    type->handle = reinterpret_cast<MPI_Datatype>(type);
    type->name.clear();
    return *type;
}

}  // namespace

Datatype* make_contiguous(Process& process, std::int64_t count, const Datatype& old) {
    std::int64_t extent = 0;
    if (__builtin_mul_overflow(count, old.extent, &extent)) return nullptr;
    Datatype& type = make(process);
    type.size = count * old.size;
    type.extent = extent;
    type.true_extent = count == 0 ? 0 : extent - old.extent + old.true_extent;
    type.unit = old.unit;
    type.contiguous = old.contiguous;
    type.committed = false;
    return &type;
}

Datatype& duplicate(Process& process, const Datatype& old) {
    Datatype& type = make(process);
    type.size = old.size;
    type.extent = old.extent;
    type.true_extent = old.true_extent;
    type.unit = old.unit;
    type.contiguous = old.contiguous;
    type.committed = old.committed;
    return type;
}

void drop(Process& process, Datatype& type) noexcept {
    if (!type.release_reference()) return;
    type.name.clear();
    Process::destroy(process.datatypes, type);
}

std::int64_t count_in(std::uint64_t bytes, const Datatype& type) noexcept {
    const auto each = static_cast<std::uint64_t>(bytes_per_element(type));
    if (each == 0) return bytes == 0 ? 0 : std::int64_t{MPI_UNDEFINED};
    return bytes % each == 0 ? static_cast<std::int64_t>(bytes / each) : std::int64_t{MPI_UNDEFINED};
}

std::int64_t elements_in(std::uint64_t bytes, const Datatype& type) noexcept {
    if (type.size == 0) return bytes == 0 ? 0 : std::int64_t{MPI_UNDEFINED};
    const auto each = static_cast<std::uint64_t>(type.unit.bytes);
    const auto first = static_cast<std::uint64_t>(type.unit.first);
    const std::uint64_t rest = bytes % each;
    const auto units = static_cast<std::int64_t>(bytes / each);
    if (first == 0) return rest == 0 ? units : std::int64_t{MPI_UNDEFINED};
    if (rest != 0 && rest != first) return MPI_UNDEFINED;
    return 2 * units + (rest == 0 ? 0 : 1);
}

}  // namespace heddle::objects

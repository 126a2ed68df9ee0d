// SPDX-License-Identifier: BSD-3-Clause
#include "objects/predefined.hpp"

#include <bit>
#include <cstdint>
#include <numeric>

#include "objects/basic_types.hpp"
#include "objects/file.hpp"
#include "objects/process.hpp"

namespace heddle::objects {
namespace {

PlainType plain(const Datatype& type) noexcept {
    const bool bits = kernel_of(Builtin::bit_and, type) != nullptr;
    PlainType plain;
    plain.compares = bits || kernel_of(Builtin::logical_and, type) != nullptr;
    if (!type.contiguous || type.size != type.extent || type.size > UINT8_MAX) return plain;
    plain.bytes = static_cast<std::uint8_t>(type.size);
    if (type.size <= 8 && std::has_single_bit(plain.bytes)) plain.word = plain.bytes;
    plain.adds = plain.word != 0 && bits && kernel_of(Builtin::sum, type) != nullptr;
    return plain;
}

void make_types(Process& process) {
    for (const PredefinedType& type : predefined_types()) {
        Datatype& object = make_datatype(process, DefinitionPointer(type.definition));
        object.handle = type.handle;
        object.name = type.name;
        object.committed = true;
        object.permanent = true;
        process.predefined_types[reinterpret_cast<std::uintptr_t>(type.handle)] = &object;
        process.plain_types.note(type.handle, plain(object));
    }
}

struct PredefinedOperation {
    MPI_Op handle;
    const char* name;
    Builtin builtin;
};

#define OPERATION(name, builtin) {MPI_##name, "MPI_" #name, Builtin::builtin}
const PredefinedOperation operations[] = {
    OPERATION(SUM, sum),
    OPERATION(MIN, min),
    OPERATION(MAX, max),
    OPERATION(PROD, product),
    OPERATION(BAND, bit_and),
    OPERATION(BOR, bit_or),
    OPERATION(BXOR, bit_xor),
    OPERATION(LAND, logical_and),
    OPERATION(LOR, logical_or),
    OPERATION(LXOR, logical_xor),
    OPERATION(MINLOC, min_location),
    OPERATION(MAXLOC, max_location),
    OPERATION(REPLACE, replace),
    OPERATION(NO_OP, no_op),
};
#undef OPERATION

void make_operations(Process& process) {
    for (const PredefinedOperation& operation : operations) {
        Operation* object = Process::make(process.operations, core::Kind::operation);
        object->handle = operation.handle;
        object->name = operation.name;
        object->builtin = operation.builtin;
        object->commutative =
            operation.builtin != Builtin::replace && operation.builtin != Builtin::no_op;
        process.predefined_operations[reinterpret_cast<std::uintptr_t>(operation.handle)] = object;
    }
}

Communicator* make_predefined_one(Process& process, MPI_Comm handle, const char* name,
                                  std::uint32_t context, Group& group) {
    Communicator* communicator = Process::make(process.communicators, core::Kind::communicator);
    communicator->handle = handle;
    communicator->name = name;
    communicator->context = context;
    communicator->group = &group;
    communicator->rank = group.rank;
    communicator->peers = group.size();
    communicator->processes = group.processes.data();
    communicator->scratch = unknown_scratch(process, group);
    communicator->errhandler = &initial_errhandler(process);
    communicator->errhandler->retain();
    return communicator;
}

}  // namespace

Errhandler& initial_errhandler(Process& process) noexcept {
    using tool::InitialErrhandler;
    switch (process.settings.initial_errhandler) {
        case InitialErrhandler::abort: return *process.errors_abort;
        case InitialErrhandler::give_back: return *process.errors_return;
        default: return *process.errors_are_fatal;
    }
}

void make_predefined(Process& process) {
    make_types(process);
    make_operations(process);
    using Action = Errhandler::Action;
    process.errors_are_fatal = &make_errhandler(process, Action::fatal);
    process.errors_abort = &make_errhandler(process, Action::abort);
    process.errors_return = &make_errhandler(process, Action::give_back);
    process.files->null.errhandler = process.errors_return;
    process.errors_return->retain();

    Members everyone;
    everyone.reserve(static_cast<std::size_t>(process.size()));
    for (std::int32_t rank = 0; rank < process.size(); ++rank)
        everyone.push_back(process.numbers.number_of(rank));
    process.empty_group = &make_group(process, {});
    process.world = make_predefined_one(process, MPI_COMM_WORLD, "MPI_COMM_WORLD", world_context,
                                        make_group(process, std::move(everyone)));
    process.self = make_predefined_one(process, MPI_COMM_SELF, "MPI_COMM_SELF", self_context,
                                       make_group(process, {process.number()}));
    if (process.job.universe_size >= 0)
        process.predefined_attributes.universe_size =
            std::max(process.job.universe_size, process.size());
    if (process.job.appnum >= 0) process.predefined_attributes.appnum = process.job.appnum;
}

}  // namespace heddle::objects

// SPDX-License-Identifier: BSD-3-Clause
/// Operations of the user (MPI 5.0, 6.9.5).

#include "api/collective_arguments.hpp"
#include "api/entry.hpp"

namespace heddle::api {
namespace {

using objects::Operation;

int create_operation(Thread& thread, MPI_User_function* function,
                     MPI_User_function_c* large_function, bool commutative, MPI_Op& result) {
    if (function == nullptr && large_function == nullptr)
        return objects::fail(thread, nullptr, MPI_ERR_ARG, "argument user_fn: a null pointer");
    Process& process = *thread.process;
    Operation* operation = Process::make(process.operations, core::Kind::operation);
    if (operation == nullptr)
        return objects::fail(thread, nullptr, MPI_ERR_NO_MEM, "no memory for an operation");
    operation->handle = reinterpret_cast<MPI_Op>(operation);
    operation->function = function;
    operation->large_function = large_function;
    operation->commutative = commutative;
    result = operation->handle;
    return MPI_SUCCESS;
}

int op_create(Thread& thread, Raw<MPI_User_function*> function, Raw<int> commute, Out<MPI_Op> op) {
    return create_operation(thread, function.value, nullptr, commute.value != 0, *op);
}

int op_create_c(Thread& thread, Raw<MPI_User_function_c*> function, Raw<int> commute,
                Out<MPI_Op> op) {
    return create_operation(thread, nullptr, function.value, commute.value != 0, *op);
}

int op_free(Thread& thread, InOut<MPI_Op> handle) {
    Process& process = *thread.process;
    const Op op(process, *handle);
    if (const int error = op.error(nullptr))
        return refuse(thread, nullptr, error, Op::name, op.wrong(nullptr));
    if (op->builtin != objects::Builtin::none)
        return refuse(thread, nullptr, MPI_ERR_OP, Op::name,
                      std::string(op->name) + " cannot be freed");
    *handle = MPI_OP_NULL;
    op->kind.store(core::Kind::none, relaxed);  // pending calls may still use it
    objects::drop(process, *op);
    return MPI_SUCCESS;
}

int op_commutative(Thread&, Op op, Out<int> commute) {
    *commute = op->commutative;
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(3, Op_create, op_create)
MPI_ENTRY(3, Op_create_c, op_create_c)
MPI_ENTRY(1, Op_free, op_free)
MPI_ENTRY(2, Op_commutative, op_commutative)

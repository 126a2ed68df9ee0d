// SPDX-License-Identifier: BSD-3-Clause
#include "objects/errhandler.hpp"

#include <new>

#include "objects/process.hpp"

namespace heddle::objects {

Errhandler& make_errhandler(Process& process, Errhandler::Action action,
                            MPI_Comm_errhandler_function* function) {
    Errhandler* handler = Process::make(process.errhandlers, core::Kind::errhandler);
    if (handler == nullptr) throw std::bad_alloc();
    handler->action = action;
    handler->function = function;
    return *handler;
}

void drop(Process& process, Errhandler& handler) noexcept {
    if (!handler.release_reference()) return;
    handler.function = nullptr;
    Process::destroy(process.errhandlers, handler);
}

MPI_Errhandler handle_of(Process& process, Errhandler& handler) noexcept {
    if (&handler == process.errors_are_fatal) return MPI_ERRORS_ARE_FATAL;
    if (&handler == process.errors_abort) return MPI_ERRORS_ABORT;
    if (&handler == process.errors_return) return MPI_ERRORS_RETURN;
    return reinterpret_cast<MPI_Errhandler>(&handler);
}

}  // namespace heddle::objects

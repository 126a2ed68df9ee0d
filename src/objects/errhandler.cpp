// SPDX-License-Identifier: BSD-3-Clause
#include "objects/errhandler.hpp"

#include <new>
#include <utility>

#include "objects/process.hpp"

namespace heddle::objects {

Errhandler& make_errhandler(Process& process, Errhandler::Action action, Errhandler::For what,
                            Errhandler::Function function) {
    Errhandler* handler = Process::make(process.errhandlers, core::Kind::errhandler);
    if (handler == nullptr) throw std::bad_alloc();
    handler->handles.store(1, relaxed);  // its reference is the handle's
    handler->action = action;
    handler->what = what;
    handler->function = function;
    return *handler;
}

void drop(Process& process, Errhandler& handler) noexcept {
    if (!handler.release_reference()) return;
    handler.function = nullptr;
    Process::destroy(process.errhandlers, handler);
}

void set_errhandler(Process& process, Errhandler*& in_force, Errhandler& handler) noexcept {
    handler.retain();
    Errhandler* old = nullptr;
    {
        std::lock_guard guard(process.set_up);
        old = std::exchange(in_force, &handler);
    }
    drop(process, *old);
}

MPI_Errhandler get_errhandler(Process& process, Errhandler* const& in_force) noexcept {
    std::lock_guard guard(process.set_up);
    const MPI_Errhandler handle = handle_of(process, *in_force);
    if (handle == reinterpret_cast<MPI_Errhandler>(in_force)) in_force->hand_out();
    return handle;
}

MPI_Errhandler handle_of(Process& process, Errhandler& handler) noexcept {
    if (&handler == process.errors_are_fatal) return MPI_ERRORS_ARE_FATAL;
    if (&handler == process.errors_abort) return MPI_ERRORS_ABORT;
    if (&handler == process.errors_return) return MPI_ERRORS_RETURN;
    return reinterpret_cast<MPI_Errhandler>(&handler);
}

}  // namespace heddle::objects

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// An error handler: what happens when a call fails (MPI 5.0, 9.3).

#include <cstdint>

#include "core/object.hpp"
#include "mpi.h"

namespace heddle::objects {

class Process;

struct Errhandler : core::Handed {
    enum class Action : std::uint8_t { fatal, abort, give_back, call };

    /// The object that the function of the user takes. The predefined handlers are for everything.
    enum class For : std::uint8_t { everything, communicator, session, window, file };
    using Function = void (*)();

    Errhandler* next = nullptr;
    Action action = Action::fatal;
    For what = For::everything;
    Function function = nullptr;  ///< for Action::call; cast from the type that belongs to `what`

    bool ends_job() const noexcept { return action == Action::fatal || action == Action::abort; }
    bool is_for(For object) const noexcept { return what == For::everything || what == object; }
};

/// Makes a handler with one reference. Throws std::bad_alloc.
Errhandler& make_errhandler(Process& process, Errhandler::Action action,
                            Errhandler::For what = Errhandler::For::everything,
                            Errhandler::Function function = nullptr);
/// Drops a reference. The last one destroys the handler.
void drop(Process& process, Errhandler& handler) noexcept;
/// Puts `handler` in the place of the one in force.
void set_errhandler(Process& process, Errhandler*& in_force, Errhandler& handler) noexcept;
/// Returns a handle of the one in force to the user, counted.
MPI_Errhandler get_errhandler(Process& process, Errhandler* const& in_force) noexcept;
/// Returns the handle, which is a constant for predefined handlers.
MPI_Errhandler handle_of(Process& process, Errhandler& handler) noexcept;

}  // namespace heddle::objects

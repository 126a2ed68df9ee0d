// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What happens when a call fails (MPI 5.0, 9.3).

#include <cstdint>

#include "core/object.hpp"
#include "mpi.h"

namespace heddle::objects {

class Process;

struct Errhandler : core::Object {
    enum class Action : std::uint8_t { fatal, abort, give_back, call };

    Errhandler* next = nullptr;
    Action action = Action::fatal;
    MPI_Comm_errhandler_function* function = nullptr;  ///< for Action::call on communicators
};

/// With one reference. Throws std::bad_alloc.
Errhandler& make_errhandler(Process& process, Errhandler::Action action,
                            MPI_Comm_errhandler_function* function);
/// Drops a reference; the last one destroys.
void drop(Process& process, Errhandler& handler) noexcept;
/// The constant, for predefined ones.
MPI_Errhandler handle_of(Process& process, Errhandler& handler) noexcept;

}  // namespace heddle::objects

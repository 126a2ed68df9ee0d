// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What happens when a call fails (MPI 5.0, 9.3).

#include <cstdint>

#include "core/object.hpp"
#include "mpi.h"

namespace heddle::objects {

struct Errhandler : core::Object {
    enum class Action : std::uint8_t { fatal, abort, give_back, call };

    Errhandler* next = nullptr;
    Action action = Action::fatal;
    MPI_Comm_errhandler_function* function = nullptr;  ///< for Action::call on communicators
};

}  // namespace heddle::objects

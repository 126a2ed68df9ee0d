// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Attributes when a datatype is duplicated, or it or a window is freed (MPI 5.0, 7.7.4).
///
/// These functions return MPI_SUCCESS, or the error of a function of the user, which has been
/// raised.

#include "core/thread.hpp"
#include "objects/datatype.hpp"
#include "objects/window.hpp"

namespace heddle::api {

/// Copies attributes to a duplicate, as the copy functions say. If one fails, the duplicate is
/// freed, and `made` becomes MPI_DATATYPE_NULL.
int copy_attributes(core::Thread& thread, objects::Datatype& old, MPI_Datatype& made);
/// Deletes attributes of a type or a window whose handle is about to be freed. If this fails, the
/// handle is not freed.
int delete_attributes(core::Thread& thread, objects::Datatype& type);
int delete_attributes(core::Thread& thread, objects::Window& window);

}  // namespace heddle::api

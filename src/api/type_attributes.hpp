// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What becomes of attributes when a datatype is duplicated, or it or a window is freed (MPI 5.0, 7.7.4).
///
/// They answer MPI_SUCCESS, or the error of a function of the user's, which has been raised.

#include "core/thread.hpp"
#include "objects/datatype.hpp"
#include "objects/window.hpp"

namespace heddle::api {

/// To a duplicate, as the copy functions say. Where one fails, the duplicate is freed, and `made` becomes
/// MPI_DATATYPE_NULL.
int copy_attributes(core::Thread& thread, objects::Datatype& old, MPI_Datatype& made);
/// Of a type or a window whose handle is about to be freed, which it is not where this fails.
int delete_attributes(core::Thread& thread, objects::Datatype& type);
int delete_attributes(core::Thread& thread, objects::Window& window);

}  // namespace heddle::api

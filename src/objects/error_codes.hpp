// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Error classes and codes that programs add (MPI 5.0, 9.5).
///
/// Programs may add them before MPI_Init and look at them after MPI_Finalize. So they belong to the
/// program and not to a Process, like the info objects (objects/info.hpp) and nothing else.
///
/// Thread safety  every call from any thread. Strings that were returned stay valid.

namespace heddle::objects {

int add_error_class() noexcept;
/// Returns 0 if there is no such class.
int add_error_code(int error_class);
/// Returns false if the code is predefined or unknown.
bool add_error_string(int code, const char* text);

/// These return MPI_SUCCESS, or MPI_ERR_ARG if the class, code or string is predefined or unknown.
/// They return MPI_ERR_OTHER for a class that still has codes, and for a class or code that has a
/// string.
int remove_error_class(int error_class);
int remove_error_code(int code);
int remove_error_string(int code);

/// Returns the class of a code, or MPI_ERR_LASTCODE if there is no such code.
int class_of(int code);

/// Returns whether a program added the code; then user_text() returns its string, or "" if it has
/// none.
bool is_user_code(int code);
const char* user_text(int code);

/// Returns the address of the value of MPI_LASTUSEDCODE.
int* last_used_code() noexcept;

}  // namespace heddle::objects

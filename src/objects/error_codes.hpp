// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Error classes and codes that programs add (MPI 5.0, 9.5).
///
/// They may be added before MPI_Init and looked at after MPI_Finalize, so they belong to the program
/// and not to a Process: the one exception, with the info objects (objects/info.hpp).
///
/// Thread safety  every call from any thread. Strings that were answered stay valid.

namespace heddle::objects {

int add_error_class() noexcept;
/// 0 if there is no such class.
int add_error_code(int error_class);
/// False if the code is predefined or unknown.
bool add_error_string(int code, const char* text);

/// They answer MPI_SUCCESS, or MPI_ERR_ARG for what is predefined or unknown; a class must have no
/// codes left, and neither a class nor a code a string: MPI_ERR_OTHER.
int remove_error_class(int error_class);
int remove_error_code(int code);
int remove_error_string(int code);

/// The class of a code; MPI_ERR_LASTCODE if there is no such code.
int class_of(int code);

/// Whether it is a code that a program added; then its string, "" if there is none.
bool is_user_code(int code);
const char* user_text(int code);

/// The value of MPI_LASTUSEDCODE.
int* last_used_code() noexcept;

}  // namespace heddle::objects

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A function of the program that MPI calls: operations of reductions, error handlers, attribute
/// callbacks, functions of generalized requests.
///
/// To a race detector it is code of the program (platform/sanitizers.hpp). An MPI call in it is a
/// call of its own, which uses api::CallSection like any other. Afterwards errors and reports name
/// the outer call again.

#include "objects/process.hpp"
#include "platform/sanitizers.hpp"

namespace heddle::objects {

class UserCode {
public:
    UserCode() noexcept
        : thread_(current_thread), call_(thread_ != nullptr ? thread_->call : nullptr) {
        if (platform::races_are_sought()) current_thread = nullptr;
    }
    ~UserCode() {
        if (platform::races_are_sought()) current_thread = thread_;
        if (thread_ != nullptr) thread_->call = call_;
    }
    UserCode(const UserCode&) = delete;
    UserCode& operator=(const UserCode&) = delete;

private:
    core::Thread* const thread_;
    const char* const call_;
    platform::ProgramCode program_code_;
};

}  // namespace heddle::objects

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Calls functions of the program: error handlers, operations, attribute functions and the like.
///
/// Exceptions     an exception that leaves the function passes through the MPI call to the program.
///                The entry points turn our own exceptions into errors (api/entry.hpp).
///                left_callback() tells them which exceptions are not ours. In between only
///                destructors run: no other code catches it.
/// Locks          none of the library's is held meanwhile, except the section that is a whole call
///                (recipe global). The exception leaves that section, too.
/// Races          to a race detector the function is code of the program (objects/user_code.hpp).

#include <type_traits>
#include <utility>

#include "objects/user_code.hpp"

namespace heddle::objects {

/// Returns whether the calling thread's exception in flight comes from a function of the program.
/// The code that reads `true` clears it, and lets the exception go on.
bool& left_callback() noexcept;

/// Calls function(arguments...), a function of the program.
template <class Function, class... Arguments>
decltype(auto) call_program(Function&& function, Arguments&&... arguments) {
    const UserCode user_code;
    struct Watch {
        bool returned = false;
        ~Watch() {
            if (!returned) left_callback() = true;
        }
    } watch;
    if constexpr (std::is_void_v<decltype(function(std::forward<Arguments>(arguments)...))>) {
        function(std::forward<Arguments>(arguments)...);
        watch.returned = true;
    } else {
        const auto answer = function(std::forward<Arguments>(arguments)...);
        watch.returned = true;
        return answer;
    }
}

}  // namespace heddle::objects

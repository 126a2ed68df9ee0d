// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Calling functions of the program: error handlers, operations, attribute functions and the like.
///
/// Exceptions     one that leaves such a function passes through the MPI call to the program. The entry
///                points turn our own exceptions into errors (api/entry.hpp); left_callback() tells
///                them which are not ours. On the way only destructors run: nobody else catches.
/// Locks          none of the library's is held meanwhile, except the section that is a whole call
///                (recipe global), which is left on the way.
/// Races          it is the program's code to a race detector (objects/user_code.hpp).

#include <type_traits>
#include <utility>

#include "objects/user_code.hpp"

namespace heddle::objects {

/// Whether the exception that the calling thread has in flight comes from a function of the program.
/// Whoever reads `true` clears it, and lets the exception go on.
bool& left_callback() noexcept;

/// function(arguments...), for a function of the program.
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

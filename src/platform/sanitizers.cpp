// SPDX-License-Identifier: BSD-3-Clause
#include "platform/sanitizers.hpp"

#include <utility>

namespace heddle::platform {
namespace {

constinit thread_local bool in_library = false;

}  // namespace

bool LibraryCode::enter() noexcept {
    if (std::exchange(in_library, true)) return false;
    __tsan_ignore_thread_begin();
    return true;
}

bool LibraryCode::leave() noexcept {
    if (!std::exchange(in_library, false)) return false;
    __tsan_ignore_thread_end();
    return true;
}

}  // namespace heddle::platform

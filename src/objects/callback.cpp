// SPDX-License-Identifier: BSD-3-Clause
#include "objects/callback.hpp"

namespace heddle::objects {

bool& left_callback() noexcept {
    static constinit thread_local bool left = false;
    return left;
}

}  // namespace heddle::objects

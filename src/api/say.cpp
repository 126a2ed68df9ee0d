// SPDX-License-Identifier: BSD-3-Clause
#include "api/say.hpp"

#include <unistd.h>

namespace heddle::api {

void say(const objects::Process& process, const char* what, const std::string& lines) {
    const std::string text = "heddle: " + std::string(what) + " rank " +
        std::to_string(process.rank()) + " of " + std::to_string(process.size()) + "\n" + lines;
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

}  // namespace heddle::api

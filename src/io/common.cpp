// SPDX-License-Identifier: BSD-3-Clause
#include "io/common.hpp"

#include "objects/file.hpp"
#include "objects/process.hpp"

namespace heddle::io {

std::shared_ptr<Common> common_of(objects::Process& process) {
    std::lock_guard guard(process.set_up);
    std::shared_ptr<Common>& common = process.files->common;
    if (common == nullptr) common = std::make_shared<Common>(process);
    return common;
}

}  // namespace heddle::io

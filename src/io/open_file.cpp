// SPDX-License-Identifier: BSD-3-Clause
#include "io/open_file.hpp"

namespace heddle::io {

OpenFile::~OpenFile() {
    collective_worker = nullptr;  // before what it works with
    shared = nullptr;
    if (communicator != nullptr) objects::close_handle(process, *communicator);
}

std::int32_t next_tag(OpenFile& file) noexcept {
    // Of the collective context of the file's communicator. A call uses a few tags from this one on.
    constexpr std::int32_t first = 1 << 22, each = 8;
    constexpr std::uint32_t calls = 1 << 20;
    const std::lock_guard guard(file.lock);
    return first + each * static_cast<std::int32_t>(file.collectives++ % calls);
}

}  // namespace heddle::io

// SPDX-License-Identifier: BSD-3-Clause
#include "io/open_file.hpp"

namespace heddle::io {

OpenFile::~OpenFile() {
    collective_worker = nullptr;  // before the objects that it works with
    shared = nullptr;
    for (auto& one : windows) one = nullptr;
    if (communicator != nullptr) objects::close_handle(process, *communicator);
}

void apply_hints(OpenFile& file, const objects::Info& info) {
    const std::lock_guard guard(file.lock);
    const Style before = file.hints.style;
    apply(file.hints, info, false);
    if (file.hints.style != before) file.storage->expect(file.hints.style);
}

std::int32_t next_tag(OpenFile& file) noexcept {
    // A tag of the collective context of the file's communicator. A call uses a few tags from this
    // one on.
    constexpr std::int32_t first = 1 << 22, each = 8;
    constexpr std::uint32_t calls = 1 << 20;
    const std::lock_guard guard(file.lock);
    return first + each * static_cast<std::int32_t>(file.collectives++ % calls);
}

}  // namespace heddle::io

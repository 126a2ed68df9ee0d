// SPDX-License-Identifier: BSD-3-Clause
#include "platform/alarm.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace heddle::platform {

Alarm::Alarm() : bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (bell_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Alarm::~Alarm() { close(bell_); }

void Alarm::ring() noexcept {
    const std::uint64_t once = 1;
    // It fails only if so many rings are unheard that one more makes no difference.
    [[maybe_unused]] const ssize_t written = write(bell_, &once, sizeof once);
}

void Alarm::sleep(int descriptor, std::chrono::milliseconds at_most) noexcept {
    std::array<pollfd, 2> sources{pollfd{bell_, POLLIN, 0}, pollfd{descriptor, POLLIN, 0}};
    const auto limit = std::min<std::chrono::milliseconds::rep>(at_most.count(), INT_MAX);
    poll(sources.data(), sources.size(), static_cast<int>(limit));
    std::uint64_t rings = 0;
    [[maybe_unused]] const ssize_t heard = read(bell_, &rings, sizeof rings);
}

}  // namespace heddle::platform

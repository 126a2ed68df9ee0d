// SPDX-License-Identifier: BSD-3-Clause
#include "platform/either.hpp"

#include <cerrno>
#include <sys/epoll.h>
#include <system_error>
#include <unistd.h>

namespace heddle::platform {

Either::~Either() {
    if (descriptor_ >= 0) close(descriptor_);
}

void Either::watch(int first, int second) {
    descriptor_ = epoll_create1(EPOLL_CLOEXEC);
    for (const int descriptor : {first, second}) {
        epoll_event readable{.events = EPOLLIN, .data = {.fd = descriptor}};
        if (descriptor_ < 0 || epoll_ctl(descriptor_, EPOLL_CTL_ADD, descriptor, &readable) != 0)
            throw std::system_error(errno, std::generic_category(), "epoll");
    }
}

}  // namespace heddle::platform

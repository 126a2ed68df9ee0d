// SPDX-License-Identifier: BSD-3-Clause
#include "rma/named_wait.hpp"

#include <mutex>

namespace heddle::rma {

void tell_window(core::Thread& thread, const objects::Window& window, std::int32_t rank,
                 node::AwaitedEvent& event) noexcept {
    objects::Process& process = *thread.process;
    event.peer = rank;
    objects::tell_communicator(process, window.communicator->context, event);
    const std::unique_lock names(process.set_up, std::try_to_lock);
    if (names) node::put_text(event.detail, window.name.c_str());
}

}  // namespace heddle::rma

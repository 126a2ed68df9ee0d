// SPDX-License-Identifier: BSD-3-Clause
#include "rma/held.hpp"

#include "rma/meeting.hpp"

namespace heddle::rma {

void InInstance::hold(core::Thread& thread, objects::Window& window,
                      objects::Target& target) noexcept {
    const std::uint32_t context = context_of(*window.communicator);
    const std::size_t number = thread.engine->recipes().choose_instance(thread, context);
    held_.emplace(thread, number, context);
    held_->counters().window_holds.add();
    // Set while the instance is held: a thread that passes the instance afterwards has seen that it
    // is used.
    const std::uint64_t bit = std::uint64_t{1} << number;
    window.instances.fetch_or(bit, relaxed);
    // Several threads may do this at once. The thread that unlocks comes after them.
    for (std::uint8_t* unlocking : {&target.unlocking, &window.unlocking_all})
        std::atomic_ref<std::uint8_t>(*unlocking).fetch_or(objects::instances_held, relaxed);
}

void pass_instances(core::Thread& thread, objects::Window& window) noexcept {
    for (std::uint64_t left = window.instances.load(relaxed); left != 0; left &= left - 1) {
        p2p::HeldInstance held(thread, static_cast<std::size_t>(std::countr_zero(left)),
                               context_of(*window.communicator));
        held.counters().window_flush_holds.add();
    }
}

}  // namespace heddle::rma

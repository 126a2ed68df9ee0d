// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Windows in other recipes than the default one. An operation holds an instance while
/// it moves data, and a flush visits all instances that have been held.
///
/// Instance       the thread's own, or the next one in turn (P1, algorithm 1). If threads do not
///                choose, it is one for all operations on the window. The recipe decides, as it
///                does for messages.
/// Flush          waits for an instance as long as the operation takes that holds it. So it waits
///                for none that another thread begins after the flush has passed (P2, section 5.2).
/// By message     a process asks such a target by messages, which take their instances themselves.
///                A thread that waits for an answer holds no instance.
/// Otherwise      nothing happens: the default recipe has no such instances, and its short paths do
///                not come here.

#include <bit>
#include <cstdint>
#include <optional>

#include "objects/window.hpp"
#include "p2p/laboratory/held_instance.hpp"
#include "rma/access.hpp"

namespace heddle::rma {

/// The instance of one operation, for as long as the object lives. No error is raised meanwhile, as
/// handlers are the program's.
class [[nodiscard]] InInstance {
public:
    InInstance(core::Thread& thread, objects::Window& window, const Spot& spot) noexcept {
        if (!thread.engine->base().features.free_windows && !spot.by_message) [[unlikely]]
            hold(thread, window, *spot.target);
    }

private:
    [[gnu::cold]] void hold(core::Thread& thread, objects::Window& window,
                            objects::Target& target) noexcept;

    std::optional<p2p::HeldInstance> held_;
};

/// Passes all instances that operations on the window have held, one after the other.
[[gnu::cold]] void pass_instances(core::Thread& thread, objects::Window& window) noexcept;

/// Orders an operation before the ones that follow the end of an epoch or a flush. After a put, a
/// later get, perhaps of other memory, must not be earlier: stores wait in the processor.
inline void order_operations(core::Thread& thread, objects::Window& window) noexcept {
    std::atomic_thread_fence(seq_cst);
    if (window.instances.load(relaxed) != 0) [[unlikely]]
        pass_instances(thread, window);
}

}  // namespace heddle::rma

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Windows in recipes of the laboratory (p2p/laboratory.hpp): an operation holds an instance while it moves data, and a
/// flush goes over all instances that have been held.
///
/// Which instance the thread's own, the next one in turn (P1, algorithm 1), or where threads do not choose, one for all
///                operations on the window: the recipe decides, as it does for messages.
/// Flush          waits for an instance as long as the operation takes that holds it, and so for none that another
///                thread begins after it has passed (P2, section 5.2).
/// By message     a target that is asked is asked by messages, which take their instances themselves: who waits for an
///                answer holds none.
/// Otherwise      nothing happens: the default recipe has no such instances, and its short ways do not come by here.

#include <bit>
#include <cstdint>
#include <optional>

#include "objects/window.hpp"
#include "p2p/held_instance.hpp"
#include "rma/access.hpp"

namespace heddle::rma {

/// The instance of one operation, for as long as the object lives. No error is raised meanwhile: handlers are the
/// program's.
class [[nodiscard]] InInstance {
public:
    InInstance(core::Thread& thread, objects::Window& window, const Spot& spot) noexcept {
        if (thread.engine->base().in_laboratory() && !spot.by_message) [[unlikely]]
            hold(thread, window, *spot.target);
    }

private:
    [[gnu::cold]] void hold(core::Thread& thread, objects::Window& window,
                            objects::Target& target) noexcept;

    std::optional<p2p::HeldInstance> held_;
};

/// All instances that operations on the window have held, one after the other.
[[gnu::cold]] void pass_instances(core::Thread& thread, objects::Window& window) noexcept;

/// By what ends an epoch or flushes. After a put a later get, of other memory perhaps, must not be earlier: stores wait
/// in the processor.
inline void settle(core::Thread& thread, objects::Window& window) noexcept {
    std::atomic_thread_fence(seq_cst);
    if (window.instances.load(relaxed) != 0) [[unlikely]]
        pass_instances(thread, window);
}

}  // namespace heddle::rma

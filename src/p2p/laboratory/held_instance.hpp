// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// An instance of a recipe of the laboratory, held for an operation on a window, not for a message
/// (rma/held.hpp).
///
/// Held           the instance's outbox, in its section if the recipe has sections, as for a
///                message.
/// Deadlock       a thread that holds an instance sends nothing, waits for no thread, and calls no
///                function of the program. Outboxes do not nest.

#include <cstddef>
#include <cstdint>

#include "p2p/engine.hpp"
#include "sync/locks/sections.hpp"

namespace heddle::p2p {

class [[nodiscard]] HeldInstance {
public:
    /// Holds an instance. `context` is the window's, for the record of contention.
    HeldInstance(core::Thread& thread, std::size_t number, std::uint32_t context) noexcept
        : thread_(thread),
          number_(number),
          section_(thread.visitor, sync::locks::Section::outbox, number),
          held_(thread.engine->base().pool[number], thread.token) {
        held_.note(context, 0);
    }
    HeldInstance(const HeldInstance&) = delete;
    HeldInstance& operator=(const HeldInstance&) = delete;

    tool::counters::Holding& counters() noexcept {
        return thread_.engine->base().laboratory->holding(number_);
    }

private:
    core::Thread& thread_;
    const std::size_t number_;
    const sync::locks::InSection section_;
    instance::OutboxHold held_;
};

}  // namespace heddle::p2p

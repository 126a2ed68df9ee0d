// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// An instance of a recipe of the laboratory, held for what is no message: an operation on a window (rma/held.hpp).
///
/// What is held   the instance's outbox, in its section if the recipe has sections, as for a message.
/// Deadlock       who holds one sends nothing, waits for nobody, and calls no function of the program: outboxes do not
///                nest.

#include <cstddef>
#include <cstdint>

#include "p2p/engine.hpp"
#include "sync/locks/sections.hpp"

namespace heddle::p2p {

class [[nodiscard]] HeldInstance {
public:
    /// `context` is the window's, for the record of who waited for whom.
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

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
          context_(context),
          section_(thread.visitor, sync::locks::Section::outbox, number),
          way_(instance().outbox.lock(thread.token)) {}
    ~HeldInstance() {
        instance().outbox.unlock(thread_.token, way_,
                                 [this] { instance().outbox_waits.note(context_, 0); });
    }
    HeldInstance(const HeldInstance&) = delete;
    HeldInstance& operator=(const HeldInstance&) = delete;

    tool::counters::Holding& counters() noexcept {
        return thread_.engine->laboratory_->holding(number_);
    }

private:
    instance::Instance& instance() noexcept { return thread_.engine->pool_[number_]; }

    core::Thread& thread_;
    const std::size_t number_;
    const std::uint32_t context_;
    const sync::locks::InSection section_;
    const sync::BiasedLock::Way way_;
};

}  // namespace heddle::p2p

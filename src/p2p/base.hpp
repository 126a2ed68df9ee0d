// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Common base of the parts of the engine: this process's number, its instances, its requests, its
/// locks.

#include <cstdint>
#include <memory>

#include "instance/all_instances.hpp"
#include "instance/pool.hpp"
#include "launch/numbering.hpp"
#include "match/context_classes.hpp"
#include "match/recording.hpp"
#include "node/board.hpp"
#include "node/mailboxes.hpp"
#include "node/rings.hpp"
#include "p2p/far/guest_listener.hpp"
#include "p2p/laboratory/laboratory.hpp"
#include "p2p/requests/requests.hpp"
#include "p2p/stamps.hpp"
#include "progress/lot.hpp"
#include "sync/lone_thread.hpp"
#include "tool/settings.hpp"

namespace heddle::node {
class Node;
}

namespace heddle::p2p {

struct Base {
    /// `node` is shared with the processes whose numbers are below numbers.here().
    Base(const node::Node& node, const launch::Numbering& numbers,
         core::Arena<core::Request>& arena, const tool::Settings& settings);

    const node::Board board;
    const node::Mailboxes& mailboxes;
    const node::Rings& rings;
    const std::int32_t rank;  ///< number of this process
    const std::int32_t here;  ///< numbers below are those of the node's processes
    const tool::Settings settings;
    const tool::Features features;
    instance::Pool pool;
    Requests requests;
    Stamps stamps;
    const std::unique_ptr<match::Recording> recording;  ///< nullptr: nothing is recorded
    const std::unique_ptr<Laboratory> laboratory;       ///< nullptr in the default recipe
    match::ContextClasses classes;  ///< of the contexts of messages and of receives
    sync::LoneThread lone_thread;
    progress::Lot lot;
    /// Hears of processes of other jobs, and of letters; set before there are threads.
    GuestListener* guest_listener = nullptr;

    bool is_self(std::int32_t process) const noexcept { return process == rank; }
    bool is_far(std::int32_t process) const noexcept { return process >= here; }
    /// Returns whether that process asks senders to keep payloads until they are matched
    /// (p2p/pressure.hpp).
    bool is_under_pressure(std::int32_t process) const noexcept {
        return !is_far(process) && mailboxes.is_under_pressure(process);
    }
    /// Returns whether messages have numbers, and are matched in their order
    /// (p2p/laboratory/laboratory.hpp).
    bool is_sequenced() const noexcept { return laboratory != nullptr && laboratory->sequenced; }

    instance::AllInstances lock_all() { return {pool, lone_thread}; }

    node::Mailbox& mailbox() const noexcept { return mailboxes.of(static_cast<std::size_t>(rank)); }
    sync::Doorbell& bell() const noexcept { return mailbox().bell; }
    /// Returns the notice of messages that are blocked at `from`.
    node::BlockedNotice& notice_from(std::int32_t from) const noexcept {
        return rings.blocked_notice(static_cast<std::size_t>(from), static_cast<std::size_t>(rank));
    }
    /// Makes the process look at its ring from this one.
    [[gnu::cold]] void notify(std::int32_t process, std::uint8_t instance) const noexcept {
        mailboxes.notify(static_cast<std::size_t>(rank), static_cast<std::size_t>(process),
                         instance);
    }
};

}  // namespace heddle::p2p

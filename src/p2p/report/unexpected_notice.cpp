// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/report/unexpected_notice.hpp"

#include <cstring>
#include <mutex>

#include "node/board.hpp"
#include "objects/contexts.hpp"
#include "p2p/report/tell.hpp"

namespace heddle::p2p {
namespace {

/// Returns true for messages of programs, not of collectives or of the library itself.
bool is_of_program(std::uint32_t context) noexcept {
    constexpr std::uint32_t others =
        objects::partitioned_context | objects::local_group_context | objects::tagged_context;
    return context % 2 == 0 && context != objects::library_context && (context & others) == 0;
}

/// Sets the names by which a reader knows the source and the communicator.
void name(core::Thread& thread, node::UnexpectedMessage& message) noexcept {
    node::AwaitedEvent event{};
    event.peer = message.source;
    event.world_peer = -1;
    tell_context(thread, message.context, event);
    message.source = event.peer;
    message.world_source = event.world_peer;
    std::memcpy(message.communicator, event.communicator, sizeof message.communicator);
}

void publish(node::Page& page, const node::UnexpectedMessages& list) noexcept {
    // Written as a Blocked entry is. The writing thread has the lock.
    page.unexpected_version.fetch_or(1, acq_rel);
    page.unexpected = list;
    page.unexpected_version.fetch_add(1, release);
}

}  // namespace

/// Returns the sum of messages that have come and of those that have gone: it grows with each.
std::uint64_t UnexpectedNotice::changes() noexcept {
    std::uint64_t sum = 0;
    base_.pool.each(base_.pool.used(), [&](instance::Instance& instance) {
        const tool::counters::Matching& counters = instance.matching();
        sum += 2 * counters.unexpected_messages.value() - counters.unexpected_queue.value();
    });
    return sum;
}

bool UnexpectedNotice::is_cheap() noexcept {
    constexpr std::uint64_t few = 256;
    std::uint64_t kept = 0;
    base_.pool.each(base_.pool.used(), [&](instance::Instance& instance) {
        kept += instance.matching().unexpected_queue.value();
    });
    return kept <= few;
}

/// Returns the list without names.
node::UnexpectedMessages UnexpectedNotice::list() noexcept {
    node::UnexpectedMessages list{};
    base_.pool.each(base_.pool.used(), [&](instance::Instance& instance) {
        const instance::InstanceLock locked(instance);
        locked->matcher.each_kept([&](const match::Message& message) {
            const match::Envelope& envelope = message.envelope;
            if (is_of_program(envelope.context) && !offers_.is_taken_back(message))
                list.add(envelope.context, envelope.source, envelope.tag);
        });
    });
    return list;
}

void UnexpectedNotice::write(core::Thread& thread) noexcept {
    if (thread.page == nullptr) return;
    const std::lock_guard guard(writing_);
    const std::uint64_t changes = this->changes();
    if (changes != written_.load(relaxed)) {
        // Messages that come meanwhile make it stale again.
        written_.store(changes, relaxed);
        listed_ = list();
    }
    // A message may come before its communicator is complete here, or has its name.
    node::UnexpectedMessages named = listed_;
    for (node::UnexpectedMessage& message : named.listed)
        if (message.messages != 0) name(thread, message);
    // Messages of collectives come and go without a trace.
    if (std::memcmp(&named, &published_, sizeof named) == 0) return;
    published_ = named;
    publish(*thread.page, named);
}

}  // namespace heddle::p2p

// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/probes.hpp"

#include "core/causality.hpp"
#include "p2p/any_tag.hpp"
#include "p2p/far/far.hpp"
#include "p2p/polling.hpp"
#include "p2p/unexpected.hpp"

namespace heddle::p2p {

bool Probes::find(core::Thread& thread, const match::Pattern& pattern, bool in_order,
                  core::Outcome& found) {
    return search(thread, {pattern, in_order, false, found}) != nullptr;
}

match::Message* Probes::take(core::Thread& thread, const match::Pattern& pattern, bool in_order,
                             core::Outcome& found) {
    match::Message* message = search(thread, {pattern, in_order, true, found});
    if (message != nullptr) message->kind.store(core::Kind::message, relaxed);
    return message;
}

match::Message* Probes::search(core::Thread& thread, const Wanted& wanted) {
    others_.far.poll(thread);
    // A message with a number may come by any instance, and has its place in the order anyway.
    const bool in_order = wanted.in_order && !base_.is_sequenced();
    if (base_.is_sequenced()) others_.polling.poll_without_sleep(thread);
    const match::Pattern& pattern = wanted.pattern;
    ProgressCall call(thread);
    match::Message* message = nullptr;
    finish_after(call, [&] {
        if (pattern.tag != match::any_tag) {
            const instance::InstanceLock held(base_.pool.lock(
                base_.pool.home(pattern.context, pattern.tag), pattern.context, pattern.tag));
            others_.polling.drain(call, held);
            message = search_instance(held, wanted);
            return;
        }
        if (search_at_home(call, wanted, message)) return;
        const instance::AllInstances all = base_.lock_all();
        do {
            message = others_.any_tag.find_anywhere(call, all, pattern, in_order);
        } while (message != nullptr && !accept(all[message->instance], wanted, *message));
    });
    return message;
}

/// Searches the home. Returns false if all instances have to be searched.
bool Probes::search_at_home(ProgressCall& call, const Wanted& wanted, match::Message*& message) {
    const match::Pattern& pattern = wanted.pattern;
    const std::uint8_t home = others_.any_tag.home_of(pattern.context);
    if (home == Homes::nowhere) return false;
    const instance::InstanceLock held(
        base_.pool.lock(base_.pool[home], pattern.context, pattern.tag));
    if (!others_.any_tag.is_at_home(pattern.context, held)) return false;
    others_.polling.drain(call, held);
    if (!others_.any_tag.is_at_home(pattern.context, held)) return false;
    message = search_instance(held, wanted);
    return true;
}

match::Message* Probes::search_instance(instance::LockedInstance instance, const Wanted& wanted) {
    match::Message* message = others_.unexpected.find(instance, wanted.pattern);
    while (message != nullptr && !accept(instance, wanted, *message))
        message = others_.unexpected.find(instance, wanted.pattern);
    return message;
}

/// Takes the message if `wanted` says so. Returns false if its sender has taken it back; it is gone
/// then.
bool Probes::accept(instance::LockedInstance instance, const Wanted& wanted,
                    match::Message& message) {
    if (wanted.take && !others_.unexpected.accept_or_discard(instance, message)) return false;
    if (base_.is_self(message.peer))
        core::causality::after(reinterpret_cast<const void*>(message.sender));
    else
        core::causality::after_other_processes();
    wanted.found = {message.envelope.source, message.envelope.tag, 0, false, message.length};
    if (!wanted.take) return true;
    if (base_.recording != nullptr) base_.recording->take(wanted.pattern);
    others_.unexpected.take(instance, message);
    return true;
}

}  // namespace heddle::p2p

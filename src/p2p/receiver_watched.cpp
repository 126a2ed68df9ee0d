// SPDX-License-Identifier: BSD-3-Clause
/// Watched matching: recorded, timed, beside receives with MPI_ANY_TAG, or in a critical section.

#include "p2p/any_tag.hpp"
#include "p2p/receiver.hpp"
#include "platform/tick_rate.hpp"
#include "sync/locks/sections.hpp"

namespace heddle::p2p {

using sync::locks::InSection;
using sync::locks::Section;

namespace {

/// Adds the time of its life to a counter.
class Stopwatch {
public:
    Stopwatch(bool on, match::SearchCounts& counts, std::uint32_t context) noexcept
        : counts_(on ? &counts : nullptr), context_(context), start_(on ? platform::ticks() : 0) {}
    ~Stopwatch() {
        if (counts_ == nullptr) return;
        const auto took = platform::duration_of(platform::ticks() - start_);
        counts_->add_time(context_, static_cast<std::uint64_t>(took.count()));
    }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

private:
    match::SearchCounts* counts_;
    std::uint32_t context_;
    std::uint64_t start_;
};

}  // namespace

core::Request* Receiver::post_exactly(core::Thread& thread, core::Request& receive) {
    instance::Instance& home = base_.pool.home(receive.context, receive.tag);
    receive.instance = home.number();
    match::Message* message = nullptr;
    if (thread.visitor != nullptr) {
        thread.visitor->productive(2);  // made, and freed by the call that waits for it
        sync::Slot* nobody = nullptr;
        receive.waiter.compare_exchange_strong(nobody, base_.laboratory->completions().as_waiter(),
                                               release, relaxed);
    }
    {
        const InSection section(thread.visitor, Section::inbox, home.number());
        const instance::InstanceLock held(base_.pool.lock(home, receive.context, receive.tag));
        message = post_watched(held, receive);
        if (message != nullptr) message = others_.unexpected.take_accepted(held, receive, message);
    }
    if (message != nullptr) {
        note_causality(receive, *message);
        consume_now(thread, receive, *message);
    }
    return &receive;
}

match::Message* Receiver::post_watched(instance::LockedInstance instance, core::Request& receive) {
    const match::Pattern pattern{receive.context, receive.source, receive.tag};
    if (base_.recording != nullptr) base_.recording->post(pattern);
    const Stopwatch watch(base_.settings.match_timing == tool::Switch::on,
                          instance->matcher.searches(), pattern.context);
    return instance->matcher.post(receive, pattern);
}

core::Request* Receiver::match_watched(instance::LockedInstance instance,
                                       match::Envelope envelope) noexcept {
    instance->watched = others_.any_tag.may_be_posted_at(instance);
    if (base_.recording != nullptr) base_.recording->arrive(envelope);
    const Stopwatch watch(base_.settings.match_timing == tool::Switch::on,
                          instance->matcher.searches(), envelope.context);
    return others_.any_tag.match(instance, envelope);
}

}  // namespace heddle::p2p

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Matching by hash: constant time for exact receives and MPI_ANY_SOURCE, whatever is queued.
///
/// A table maps (context, source, tag) to one first-in first-out queue, of receives or of messages:
/// both at once cannot be, since the second to come would have matched. Receives with MPI_ANY_SOURCE
/// queue under the source `any_source`; a message queues under its own source and under any_source,
/// so that either kind of receive finds its first message at the head of a queue.
///
/// Memory         a key that was used keeps its (empty) slot, so that a program that uses the same
///                few tags again and again never allocates; when half of the slots are taken, the
///                table is rebuilt from the queues that hold something, larger or smaller.
/// Hostile keys   the hash is seeded, so that no choice of tags makes the table a list.

#include <cstdlib>
#include <memory>
#include <string_view>

#include "match/matcher.hpp"

namespace heddle::match {

class HashMatcher {
public:
    static constexpr std::string_view name = "hash";

    HashMatcher();
    explicit HashMatcher(std::uint64_t seed) noexcept : seed_(seed) {}
    HashMatcher(const HashMatcher&) = delete;
    HashMatcher& operator=(const HashMatcher&) = delete;

    Message* post(core::Request& receive, Pattern pattern) noexcept {
        receive.order = ++order_;
        receive.next = nullptr;
        Queue& queue = queue_of(pattern);
        if (queue.messages != nullptr) [[unlikely]] {
            Message* message = queue.messages;
            take(*message);
            return message;
        }
        (queue.last_receive == nullptr ? queue.receives : queue.last_receive->next) = &receive;
        queue.last_receive = &receive;
        if (pattern.source == any_source) ++any_source_receives_;
        counters.posted_receives.add();
        return nullptr;
    }

    [[gnu::always_inline]] core::Request* arrive(Envelope envelope) noexcept {
        Queue* exact = lookup(envelope);
        if (any_source_receives_ != 0) [[unlikely]] return arrive_at_either(envelope);
        if (exact == nullptr) [[unlikely]] return nullptr;
        core::Request* first = exact->receives;
        if (first == nullptr) return nullptr;
        if ((exact->receives = first->next) == nullptr) exact->last_receive = nullptr;
        counters.posted_receives.subtract();
        return first;
    }

    core::Request* posted_for(const Envelope& envelope) noexcept {
        Queue* exact = lookup(envelope);
        core::Request* first = exact == nullptr ? nullptr : exact->receives;
        if (any_source_receives_ != 0) [[unlikely]] first = earlier(first, envelope);
        return first;
    }

    /// `receive` is the head of its queue, as posted_for() answered.
    void take_posted(core::Request& receive) noexcept {
        note_posted(counters);
        counters.posted_receives.subtract();
        Queue& queue = *lookup({receive.context, receive.source, receive.tag});
        queue.receives = receive.next;
        if (queue.receives == nullptr) queue.last_receive = nullptr;
        if (receive.source == any_source) --any_source_receives_;
    }

    void keep(Message& message) noexcept;
    void take(Message& message) noexcept;
    Message* find(const Pattern& pattern) noexcept;
    bool cancel(core::Request& receive) noexcept;
    Message* first_message() noexcept { return first_arrival_; }

    std::uint64_t raise_order(std::uint64_t least) noexcept {
        if (order_ < least) order_ = least;
        return order_;
    }

    template <class Visit>
    void each_context(Visit&& visit) const {
        for (std::size_t i = 0; i < slots_; ++i)
            if (table_[i].holds_something()) visit(table_[i].key.context);
    }

private:
    struct Queue {
        Envelope key{};
        bool used = false;
        core::Request* receives = nullptr;
        core::Request* last_receive = nullptr;
        Message* messages = nullptr;
        Message* last_message = nullptr;

        bool holds_something() const noexcept { return receives != nullptr || messages != nullptr; }
    };

    static bool same(const Envelope& a, Envelope b) noexcept {
        return a.tag == b.tag && a.source == b.source && a.context == b.context;
    }
    std::size_t hash(const Envelope& key) const noexcept {
        std::uint64_t mixed = (std::uint64_t{key.context} << 32 | static_cast<std::uint32_t>(key.tag)) ^ seed_;
        mixed = (mixed ^ mixed >> 32) * 0x9e3779b97f4a7c15U;
        mixed ^= static_cast<std::uint32_t>(key.source) + seed_;
        mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9U;
        return mixed ^ mixed >> 32;
    }
    /// The queue of this key, or nullptr.
    Queue* lookup(Envelope key) noexcept {
        if (latest_ != nullptr && same(latest_->key, key)) [[likely]] return latest_;
        return search(key);
    }
    /// The queue of this key, made if need be.
    Queue& queue_of(Envelope key) noexcept {
        if (latest_ != nullptr && same(latest_->key, key)) [[likely]] return *latest_;
        return search_or_add(key);
    }
    Queue* search(Envelope key) noexcept;
    Queue& search_or_add(Envelope key) noexcept;
    core::Request* arrive_at_either(Envelope envelope) noexcept;
    core::Request* earlier(core::Request* exact, const Envelope& envelope) noexcept;
    void rebuild() noexcept;

    Queue* latest_ = nullptr;  ///< the queue found last; programs tend to ask for it again
    std::uint64_t order_ = 0;
    std::size_t any_source_receives_ = 0;
    std::unique_ptr<Queue[]> table_;
    std::size_t slots_ = 0;  ///< a power of two
    std::size_t used_ = 0;
    std::uint64_t seed_;
    Message* first_arrival_ = nullptr;
    Message* last_arrival_ = nullptr;

public:
    tool::counters::Matching counters;  ///< last: what matching needs lies together
};
static_assert(Matcher<HashMatcher>);

}  // namespace heddle::match

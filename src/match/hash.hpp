// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Matching by hash: constant time for every request and any length of queues.
///
/// Queues         each (context, source, tag) in use has one queue, of receives or of messages.
///                Both at once cannot be, since the second to come would have matched. Receives
///                with MPI_ANY_SOURCE queue under the source `any_source`. Patterns with wildcards
///                find messages by indices of their own (match/wildcard_index.hpp).
/// Open queues    the queue of the latest key lies here, not in a table. Programs tend to use that
///                key again, which then needs neither hash nor search. The queue of the latest key
///                with MPI_ANY_SOURCE lies beside it.
/// Memory         tables hold queues that are not empty, and follow their number up and down,
///                bucket by bucket (match/table.hpp). If there is no memory, searches become
///                longer.
/// Classes        of contexts are reported when one of their queues is opened for the first time.
///                Each post and each kept message opens its queue before
///                (match/context_classes.hpp).
/// Hostile keys   the hash is secret, so that no choice of tags makes a table a list.

#include <memory>
#include <string_view>

#include "match/context_classes.hpp"
#include "match/matcher.hpp"
#include "match/table.hpp"
#include "match/wildcard_index.hpp"
#include "platform/cpu.hpp"

namespace heddle::match {

class HashMatcher {
public:
    static constexpr std::string_view name = "hash";

    HashMatcher();
    /// Makes a matcher with a seed for its hash. Each table never has more than `most_buckets`.
    explicit HashMatcher(std::uint64_t seed, std::uint32_t most_buckets = 1U << 31) noexcept;
    HashMatcher(const HashMatcher&) = delete;
    HashMatcher& operator=(const HashMatcher&) = delete;

    /// Sets where classes of contexts are reported. Called before the first post or arrival.
    void report_to(ContextClasses::Engine& reports) noexcept {
        reports_ = &reports;
        reported_ = 0;
    }

    Message* post(core::Request& receive, Pattern pattern) noexcept {
        if (!exact_.is(pattern)) [[unlikely]]
            return post_elsewhere(receive, Key(pattern));
        if (exact_.messages.first != nullptr) [[unlikely]]
            return take_first(receive);
        receive.order = ++order_;
        exact_.receives.append(receive);
        counters.posted_receives.add();
        return nullptr;
    }

    [[gnu::always_inline]] core::Request* arrive(Envelope envelope) noexcept {
        if (any_source_receives_ != 0 || !exact_.is(envelope)) [[unlikely]]
            return arrive_elsewhere(Key(envelope));
        return take_first_posted();
    }

    core::Request* posted_for(const Envelope& envelope) noexcept {
        return first_posted(Key(envelope));
    }
    void take_posted(core::Request& receive) noexcept;
    void keep(Message& message) noexcept;
    void take(Message& message) noexcept;
    Message* find(const Pattern& pattern) noexcept {
        return keeps_nothing() ? nullptr : first_kept(Key(pattern));
    }
    bool cancel(core::Request& receive) noexcept;

    std::uint64_t raise_order(std::uint64_t least) noexcept {
        if (order_ < least) order_ = least;
        return order_;
    }

    template <class Visit>
    void each_posted(Visit&& visit) const {
        for_each(exact_.receives, visit);
        for_each(any_source_.receives, visit);
        posted_.each([&](const Queue<Posted<>>& queue) { for_each(queue, visit); });
    }
    template <class Visit>
    void each_kept(Visit&& visit) const {
        for_each(exact_.messages, visit);
        kept_.each([&](const Queue<Exact>& queue) { for_each(queue, visit); });
    }

    /// Returns the bytes besides this object.
    std::size_t memory() const noexcept {
        return posted_.memory() + kept_.memory() + (index_ == nullptr ? 0 : index_->memory());
    }

private:
    using Exact = Kept<&Message::exact>;

    /// The queue of one key. The parts of the key are compared one by one, as the program gives
    /// them.
    struct OpenPosted {
        std::uint32_t context;
        std::int32_t source;
        std::int32_t tag;
        std::uint32_t hash;
        Queue<Posted<>> receives;

        bool is(Envelope key) const noexcept {
            return tag == key.tag && source == key.source && context == key.context;
        }
        bool is(Key key) const noexcept {
            return tag == key.tag() && source == key.source() && context == key.context();
        }
        void set(Key key, std::uint32_t hash_of_key) noexcept {
            context = key.context();
            source = key.source();
            tag = key.tag();
            hash = hash_of_key;
        }
    };
    struct Open : OpenPosted {
        Queue<Exact> messages;
    };

    Open& open(Key key) noexcept {
        if (!exact_.is(key)) [[unlikely]]
            reopen(key);
        return exact_;
    }
    OpenPosted& open_any_source(Key key) noexcept {
        if (!any_source_.is(key)) [[unlikely]]
            reopen_any_source(key);
        return any_source_;
    }
    /// Notes that a queue of this context is opened.
    [[gnu::always_inline]] void note_context(std::uint32_t context) noexcept {
        if (!platform::has_bit(reported_, context)) [[unlikely]]
            report(context);
    }
    [[gnu::noinline]] void report(std::uint32_t context) noexcept;
    void reopen(Key key) noexcept;
    /// Does the same in line, for messages that each have another key.
    [[gnu::always_inline]] void reopen_in_line(Key key) noexcept;
    void reopen_any_source(Key key) noexcept;
    Message* post_elsewhere(core::Request& receive, Key key) noexcept;
    [[gnu::noinline]] Message* post_any_source(core::Request& receive, Key key) noexcept;
    /// Takes the first receive of the open queue. Returns nullptr if there is none.
    [[gnu::always_inline]] core::Request* take_first_posted() noexcept {
        core::Request* first = exact_.receives.first;
        if (first == nullptr) return nullptr;
        exact_.receives.remove_first();
        mark_taken(*first);
        counters.posted_receives.subtract();
        return first;
    }
    bool keeps_nothing() const noexcept {
        return exact_.messages.first == nullptr && kept_.empty();
    }
    Message* take_first(core::Request& receive) noexcept;
    void note_taken(Message& message) noexcept;
    core::Request* arrive_elsewhere(Key key) noexcept;
    core::Request* first_posted(Key key) noexcept;
    [[gnu::noinline]] void keep_elsewhere(Message& message) noexcept;
    Message* first_kept(Key key) noexcept;
    Message* first_kept_with_wildcard(Key key) noexcept;
    std::unique_ptr<WildcardIndex> index_kept() const noexcept;

    // Members that every message needs.
    Open exact_;
    std::uint64_t order_ = 0;  ///< of posts, and of arrivals
    std::size_t any_source_receives_ = 0;

public:
    tool::counters::Matching counters;
    SearchCounts searches;

private:
    OpenPosted any_source_;
    /// A bit for each class; no receiver of reports at first.
    std::uint64_t reported_ = ~std::uint64_t{0};
    ContextClasses::Engine* reports_ = nullptr;
    KeyHash hash_;
    Table<Posted<>> posted_;
    Table<Exact> kept_;
    std::unique_ptr<WildcardIndex>
        index_;  ///< set by the first search for messages with a wildcard
};
static_assert(Matcher<HashMatcher>);

}  // namespace heddle::match

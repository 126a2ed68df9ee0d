// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Unexpected messages by patterns with wildcards. There are three tables of queues: for (context,
/// any source, tag), (context, source, any tag), (context, any source, any tag).
///
/// The first search with a wildcard makes the index: programs without wildcards pay nothing. From
/// then on messages are linked in the order of their arrival, and searches file them. find() files
/// those that have come since, in that order, until it has an answer. So each message is filed once
/// at most. If many messages are queued at the first search, that search pays for sorting them.

#include <algorithm>
#include <vector>

#include "match/table.hpp"

namespace heddle::match {

template <Link Message::* link, Wild wild>
class Filed {
public:
    Filed(const KeyHash& hash, std::uint32_t most_buckets) noexcept
        : hash_(hash), table_(hash, most_buckets) {}

    /// Returns the first message that the pattern, which has these wildcards, accepts. Returns
    /// nullptr if there is none.
    Message* find(Key key, std::uint64_t& compared) noexcept {
        if (!table_.empty())
            if (Message* found = table_.find(hash_(key), key, compared)) return found;
        while (unfiled_ != nullptr) {
            Message& message = *unfiled_;
            file(message);
            if (Lane::has_key(message, key)) {
                ++compared;
                return &message;
            }
        }
        return nullptr;
    }
    /// Notes that a message has come.
    void note_kept(Message& message) noexcept {
        if (unfiled_ == nullptr) unfiled_ = &message;
    }
    /// Notes that a message is about to leave the order of arrivals.
    void note_taken(Message& message) noexcept {
        if (&message == unfiled_) unfiled_ = message.arrival.after;
        if ((message.filed & bit) != 0) table_.remove(hash_(Lane::key(message)), message);
    }
    std::size_t memory() const noexcept { return table_.memory(); }

private:
    using Lane = Kept<link, wild>;
    static constexpr auto bit = static_cast<std::uint8_t>(1U << static_cast<unsigned>(wild));

    /// Files the first message that is not filed.
    void file(Message& message) noexcept {
        const Key key = Lane::key(message);
        const std::uint32_t hash = hash_(key);
        std::uint64_t compared = 0;
        Queue<Lane> queue = table_.empty() ? Queue<Lane>{} : table_.take(hash, key, compared);
        queue.append(message);
        table_.add(hash, queue);
        message.filed |= bit;
        unfiled_ = message.arrival.after;
    }

    const KeyHash& hash_;
    Table<Lane> table_;
    Message* unfiled_ = nullptr;  ///< the first queued message that is not filed
};

class WildcardIndex {
public:
    /// Makes the index. `kept`: the messages that are queued already, in any order.
    WildcardIndex(const KeyHash& hash, std::uint32_t most_buckets,
                  std::vector<Message*> kept) noexcept
        : any_source_(hash, most_buckets), any_tag_(hash, most_buckets), any_(hash, most_buckets) {
        std::ranges::sort(kept, {}, &Message::arrived);
        for (Message* message : kept) note_kept(*message);
    }

    Message* find(Key key, std::uint64_t& compared) noexcept {
        if (key.tag() != any_tag) return any_source_.find(key, compared);
        if (key.source() != any_source) return any_tag_.find(key, compared);
        return any_.find(key, compared);
    }
    [[gnu::noinline]] void note_kept(Message& message) noexcept {
        arrivals_.append(message);
        message.filed = 0;
        any_source_.note_kept(message);
        any_tag_.note_kept(message);
        any_.note_kept(message);
    }
    void note_taken(Message& message) noexcept {
        any_source_.note_taken(message);
        any_tag_.note_taken(message);
        any_.note_taken(message);
        arrivals_.remove(message);
    }
    std::size_t memory() const noexcept {
        return sizeof *this + any_source_.memory() + any_tag_.memory() + any_.memory();
    }

private:
    Queue<Kept<&Message::arrival>> arrivals_;
    Filed<&Message::any_source, Wild::source> any_source_;
    Filed<&Message::any_tag, Wild::tag> any_tag_;
    Filed<&Message::any, Wild::both> any_;
};

}  // namespace heddle::match

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Deferred messages. They have been taken out of their rings, or out of a queue of unexpected
/// messages. They must not be matched before an earlier message.
///
/// Invariant      concerns the messages of one (sender, context). A message is missing if it is
///                blocked at its sender, or deferred. It is also missing if it lies in a ring that
///                has not been looked at since. While an earlier message is missing, no receive
///                with MPI_ANY_TAG matches a later one. Nor is a later one kept in a queue that
///                such a receive searches. So if one message of a (sender, context) is deferred,
///                all later ones that have come are. Another context never is for its sake.
///                (docs/adr/0018-deferred-messages.md)
/// Thread safety  changed with all instances locked, read with any of them locked.
/// Errors         reserve() throws std::bad_alloc; no other function throws. No deferred message is
///                ever lost.

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "match/message.hpp"

namespace heddle::p2p {

class Deferred {
public:
    bool empty() const noexcept { return messages_.empty(); }
    std::size_t size() const noexcept { return messages_.size(); }

    /// Makes room for one add().
    void reserve() {
        if (messages_.size() == messages_.capacity()) messages_.reserve(2 * messages_.size() + 16);
    }
    void add(match::Message& message) noexcept { messages_.push_back({&message, false}); }

    std::uint64_t latest_stamp() const noexcept {
        std::uint64_t latest = 0;
        for (const One& one : messages_) latest = std::max(latest, one.message->stamp);
        return latest;
    }
    /// Notes for which messages blocked(message) is true.
    template <class Blocked>
    void mark(Blocked&& blocked) {
        for (One& one : messages_) one.blocked = blocked(std::as_const(*one.message));
    }
    /// Calls match(message) in the order of stamps for each message that may be matched, and
    /// removes it. Marked messages stay, and so do later ones of their sender and context. Returns
    /// how many stay. If `match` throws, its message and those after it stay.
    template <class Match>
    std::size_t release(Match&& match) {
        std::stable_sort(messages_.begin(), messages_.end(), [](const One& a, const One& b) {
            return a.message->stamp < b.message->stamp;
        });
        std::vector<std::pair<std::int32_t, std::uint32_t>> waiting;  // sender, context; rarely any
        const Gone gone{messages_};
        for (One& one : messages_) {
            const std::pair stream{one.message->peer, one.message->envelope.context};
            const bool waits = std::find(waiting.begin(), waiting.end(), stream) != waiting.end();
            if (one.blocked && !waits) waiting.push_back(stream);
            if (one.blocked || waits) continue;
            match(*one.message);
            one.message = nullptr;
        }
        return static_cast<std::size_t>(
            std::count_if(messages_.begin(), messages_.end(),
                          [](const One& one) { return one.message != nullptr; }));
    }

    /// Returns whether an earlier message of this sender and context is deferred.
    bool precede(std::int32_t sender, std::uint32_t context, std::uint64_t stamp) const noexcept {
        return std::any_of(messages_.begin(), messages_.end(), [&](const One& one) {
            return one.message != nullptr && one.message->stamp < stamp &&
                one.message->peer == sender && one.message->envelope.context == context;
        });
    }
    template <class Visit>
    void each(Visit&& visit) const {
        for (const One& one : messages_) visit(std::as_const(*one.message));
    }
    /// Returns the classes of contexts with deferred messages. Bit i stands for contexts i modulo
    /// 64.
    std::uint64_t contexts() const noexcept {
        std::uint64_t contexts = 0;
        for (const One& one : messages_)
            contexts |= std::uint64_t{1} << (one.message->envelope.context & 63);
        return contexts;
    }

private:
    struct One {
        match::Message* message;
        bool blocked;  ///< an earlier message waits for room, as its sender says
    };
    /// Erases the removed messages in the end.
    struct Gone {
        std::vector<One>& messages;
        ~Gone() {
            std::erase_if(messages, [](const One& one) { return one.message == nullptr; });
        }
    };

    std::vector<One> messages_;
};

}  // namespace heddle::p2p

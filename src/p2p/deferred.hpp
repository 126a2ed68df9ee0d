// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Deferred messages: they have been taken out of their rings, or out of a queue of unexpected messages,
/// and may not be matched before something that was sent earlier.
///
/// Invariant      nothing of a (sender, context) is matched by a receive with MPI_ANY_TAG, or kept where one
///                would find it, while something earlier of the same two is blocked at its sender, in a ring
///                that has not been looked at since, or deferred. So where one message of a (sender,
///                context) is deferred, all later ones that have come are; another context never is for
///                its sake. (docs/adr/0018-deferred-messages.md)
/// Thread safety  changed with all instances locked, read with any of them locked.
/// Errors         reserve() throws std::bad_alloc; nothing else does. A message that is in here is never lost.

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
    /// Notes of which messages blocked(message) is true.
    template <class Blocked>
    void mark(Blocked&& blocked) {
        for (One& one : messages_) one.blocked = blocked(std::as_const(*one.message));
    }
    /// In the order of their stamps: calls match(message) for each one that has come in its turn, and
    /// lets go of it. Those that are marked stay, and what their sender sent later in the same context.
    /// Answers how many stay. What `match` throws leaves its message and those after it in here.
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

    /// Whether one that was sent before is in here.
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
    /// Bit i: there are some of contexts i modulo 64.
    std::uint64_t contexts() const noexcept {
        std::uint64_t contexts = 0;
        for (const One& one : messages_)
            contexts |= std::uint64_t{1} << (one.message->envelope.context & 63);
        return contexts;
    }

private:
    struct One {
        match::Message* message;
        bool blocked;  ///< something that was sent before it waits for room, said its sender
    };
    /// Takes out, in the end, what has been let go of.
    struct Gone {
        std::vector<One>& messages;
        ~Gone() {
            std::erase_if(messages, [](const One& one) { return one.message == nullptr; });
        }
    };

    std::vector<One> messages_;
};

}  // namespace heddle::p2p

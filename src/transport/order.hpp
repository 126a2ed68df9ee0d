// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The order of messages that go to a peer through several lanes
/// (docs/adr/0031-order-over-a-network.md).
///
/// Lane 0         carries everything until others are open. A lane opens for a peer with a marker
///                in lane 0. The receiver holds what comes through the lane before that. So
///                messages that move from lane 0 to another lane stay in order. Until then the
///                order of lane 0 is all the order there is.
/// Numbers        a receiver that uses MPI_ANY_TAG asks a sender with several lanes to number the
///                messages of one context. The sender does so from then on, and puts a marker into
///                every open lane. When the receiver has all markers, it has everything without a
///                number, and that was sent earlier.
/// Why it holds   a thread takes a number if it sees that the context is numbered. Everything that
///                it does afterwards sees that, too, and so does everything that happens after that
///                in other threads. The reason: reads of one atomic object never go back along
///                happens-before. So nothing without a number happens after anything with one.
/// Never undone   numbering of a context goes on when its id is used again, on both sides.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sync/orders.hpp"
#include "transport/header.hpp"

namespace heddle::transport {

using Lanes = std::uint64_t;  ///< a bit for each
inline constexpr unsigned most_ordered_lanes = 64;

/// The sender's side, for one peer.
///
/// Thread safety  any thread. If a function says so, the thread holds the lock of a lane.
class OutgoingOrder {
public:
    bool is_open(unsigned lane) const noexcept {
        return (open_.load(acquire) >> lane & 1) != 0;  // A1: pairs with R1
    }
    /// Opens a lane, with lane 0's lock, before the marker is handed over to lane 0.
    void open(unsigned lane) noexcept {
        open_.fetch_or(Lanes{1} << lane,
                       acq_rel);  // R1: a thread that uses the lane sees what is numbered by now
    }

    /// Numbers a message if its context is numbered. The thread has the lock of the lane through
    /// which the message goes, when the message gets its place there.
    void place(Header& header) const noexcept {
        const Table* table = numbered_.load(acquire);  // A2: pairs with R2
        if (table == nullptr) [[likely]]
            return;
        const auto at = table->find(header.context);
        if (at == table->end()) return;
        header.stamp =
            at->second->fetch_add(1, relaxed);  // its place in the order of one object is all
        header.order |= numbered;
    }

    /// Numbers this context from now on, as the peer wants. Returns false if it is numbered
    /// already. Otherwise a marker is to go into every lane that is open now, with its lock. The
    /// marker in lane 0 says which these are, asked with lane 0's lock.
    bool number(std::uint32_t context) {
        std::lock_guard guard(growing_);
        const Table* before = numbered_.load(relaxed);
        if (before != nullptr && before->contains(context)) return false;
        auto& counter = counters_.emplace_back(std::make_unique<std::atomic<std::uint64_t>>(0));
        auto& after = tables_.emplace_back(std::make_unique<Table>());
        if (before != nullptr) *after = *before;
        after->emplace(context, counter.get());
        numbered_.store(after.get(), release);  // R2
        return true;
    }
    Lanes open_lanes() const noexcept { return open_.load(acquire); }

private:
    using Table = std::map<std::uint32_t, std::atomic<std::uint64_t>*>;

    std::atomic<Lanes> open_{1};
    std::atomic<const Table*> numbered_{nullptr};
    std::mutex growing_;
    // Earlier tables stay: other threads may be reading them, and there are few.
    std::vector<std::unique_ptr<Table>> tables_;
    std::vector<std::unique_ptr<std::atomic<std::uint64_t>>> counters_;
};

/// The receiver's side, for one peer.
///
/// Thread safety  one thread at a time.
class IncomingOrder {
public:
    /// Returns whether what comes through this lane may be looked at. If not, it is to be held
    /// until opened().
    bool passes(unsigned lane) const noexcept { return (open_ >> lane & 1) != 0; }
    /// Notes that the marker has come.
    void opened(unsigned lane) noexcept { open_ |= Lanes{1} << lane; }
    /// Returns false if what has come is in order.
    bool is_spread() const noexcept { return open_ != 1; }

    /// Notes a message that is looked at; called for each.
    void arrived(const Header& header) {
        if ((header.order & numbered) == 0) return;
        Context& context = contexts_[header.context];
        context.early.push_back(header.stamp);
        std::push_heap(context.early.begin(), context.early.end(), std::greater<>());
        while (!context.early.empty() && context.early.front() == context.next) {
            std::pop_heap(context.early.begin(), context.early.end(), std::greater<>());
            context.early.pop_back();
            ++context.next;
        }
    }

    /// For a receive with MPI_ANY_TAG: returns whether the peer must be asked to number this
    /// context. True once.
    bool must_ask(std::uint32_t context) {
        return is_spread() && !std::exchange(contexts_[context].asked, true);
    }
    /// Notes that a marker has come. In lane 0 it says in which lanes others are.
    void marked(std::uint32_t context, unsigned lane, Lanes all) noexcept {
        Context& of = contexts_[context];
        of.marked |= Lanes{1} << lane;
        if (lane == 0) of.awaited = all;
    }

    /// Returns whether everything that was sent earlier in its context has arrived. Then a receive
    /// with MPI_ANY_TAG may have the message, if it is the first in the order of is_before().
    bool in_turn(const Header& header) const noexcept {
        if (!is_spread()) return true;
        const auto at = contexts_.find(header.context);
        if (at == contexts_.end() || !at->second.complete()) return false;
        return (header.order & numbered) == 0 || header.stamp < at->second.next;
    }

    /// Compares two messages of one peer and context that have arrived. Stamps order those without
    /// a number.
    static bool is_before(const Header& a, const Header& b) noexcept {
        const bool first = (a.order & numbered) != 0, second = (b.order & numbered) != 0;
        return first != second ? second : a.stamp < b.stamp;
    }

private:
    struct Context {
        bool asked = false;
        Lanes marked = 0;
        Lanes awaited = 0;
        std::uint64_t next = 0;            ///< numbers below have arrived
        std::vector<std::uint64_t> early;  ///< a heap: numbers above `next` that have arrived

        bool complete() const noexcept { return awaited != 0 && (awaited & ~marked) == 0; }
    };

    Lanes open_ = 1;
    std::map<std::uint32_t, Context> contexts_;
};

}  // namespace heddle::transport

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The lock of all targets of a window on one node (MPI_Win_lock_all), with the exclusive locks of
/// single targets. There are two groups, readers of all targets and writers of any target. At most
/// one group is in. One word counts both.
///
/// Order          a writer enters here before it asks for the lock of its target. So a process
///                waits in one place: readers of all targets never wait at targets. Each process
///                waits until the other group has left. The groups take turns: a process that comes
///                while others wait, waits behind them.
/// Holders        a writer whose process has another lock of the window overtakes waiting readers
///                of all targets. They may be waiting for that process.
/// Several nodes  a reader of all targets enters one node after the other. It is firm as long as it
///                does not wait. Before it waits anywhere it is loosened everywhere: then it keeps
///                out writers, except holders. In the end it is firm on all nodes at once. So no
///                waiting process keeps a holder out, whatever the order of its locks.
/// Waiting        a process that must wait is counted in its WholeParty, under the mutex. The
///                process that lets it in writes the grant there, and then sends a message
///                (take_untold). The message says that there is something to look for, not what.
///                Each process that receives one looks again.
/// Invariants     (1) readers_are_firm() excludes writers.
///                (2) the word has `busy` exactly while a process waits. While it is set, the word
///                    changes under the mutex only.
///                (3) a process that waits to read waits for writers, counted or waiting. One that
///                    waits to write waits for readers, counted or waiting.
/// Zeroes         are a free lock.

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "sync/orders.hpp"

namespace heddle::rma {

/// The subject of a message to a waiting process.
enum WholeKind : std::uint8_t {
    writer_in,
    holder_in,   ///< a writer with another lock
    readers_in,  ///< or they may be firm
    whole_kinds
};

/// The state of a process at the lock.
enum class WholeState : std::uint8_t {
    queued,
    loose,  ///< in, as a reader of all targets; holders may be in, too
    in,     ///< firm, or a writer
};

/// One process at the lock. The lock's mutex guards it.
struct WholeParty {
    std::uint32_t waiting[whole_kinds];  ///< its threads
    std::uint32_t granted[whole_kinds];  ///< those of its threads that have not looked yet
    std::uint32_t untold[whole_kinds];   ///< a message is still to be sent for each
    std::uint32_t wants_to_be_firm;
};

template <class World, class Mutex>
class BasicWholeLock {
public:
    /// The parties, as many as the window has ranks.
    struct Parties {
        WholeParty* first;
        std::size_t count;
        WholeParty& of(std::int32_t rank) const noexcept { return first[rank]; }
    };
    /// The rank that is to be sent a message.
    struct Told {
        std::int32_t rank = 0;
        WholeKind kind = writer_in;
    };

    // --- readers of all ---

    /// Enters if no process keeps it out. Returns false if it has changed nothing.
    [[nodiscard]] bool try_enter() noexcept {
        std::uint64_t word = word_.load(relaxed);
        while ((word & busy) == 0 && writers_of(word) == 0)
            // A1: pairs with R1 of writers that have left.
            if (word_.compare_exchange_strong(word, word + one_reader + one_firm, acq_rel, relaxed))
                return true;
        return false;
    }
    [[nodiscard]] WholeState enter(const Parties& parties, std::int32_t rank) noexcept {
        return try_enter() ? WholeState::in : enter_slowly(parties, rank);
    }
    /// Makes a loose reader firm. Returns false if the reader must wait for the message to try
    /// again.
    [[nodiscard]] bool be_firm(const Parties& parties, std::int32_t rank) noexcept {
        Held held(*this, parties);
        WholeParty& me = parties.of(rank);
        const bool can = held.writers == 0 && waiting_[holder_in] == 0;
        if (can) ++held.firm;
        const std::uint32_t wants = can ? 0 : 1;
        want_to_be_firm_ += wants - me.wants_to_be_firm;
        me.wants_to_be_firm = wants;
        return can;
    }
    // The following functions return whether a process is to be notified.

    [[nodiscard]] bool loosen(const Parties& parties) noexcept {
        if (try_to_take_off(one_firm)) return false;
        Held held(*this, parties);
        --held.firm;
        held.let_holders_in();
        return untold_ != 0;
    }
    /// Takes a firm reader out.
    [[nodiscard]] bool leave(const Parties& parties) noexcept {
        if (try_to_take_off(one_reader + one_firm)) [[likely]]
            return false;
        Held held(*this, parties);
        --held.firm;
        --held.readers;
        held.let_holders_in();
        held.let_others_in(writer_in);
        return untold_ != 0;
    }

    // --- writers ---

    [[nodiscard]] WholeState enter_as_writer(const Parties& parties, std::int32_t rank,
                                             bool is_holder) noexcept {
        std::uint64_t word = word_.load(relaxed);
        while ((word & busy) == 0 && (is_holder ? firm_of(word) : readers_of(word)) == 0)
            // A1: pairs with R1 of readers that have left.
            if (word_.compare_exchange_strong(word, word + one_writer, acq_rel, relaxed))
                return WholeState::in;
        return enter_as_writer_slowly(parties, rank, is_holder);
    }
    [[nodiscard]] bool leave_as_writer(const Parties& parties) noexcept {
        if (try_to_take_off(one_writer)) [[likely]]
            return false;
        Held held(*this, parties);
        --held.writers;
        held.call_loose_readers();
        held.let_others_in(readers_in);
        return untold_ != 0;
    }

    // --- processes that wait ---

    /// Returns whether a process that has waited is in now (readers: loosely). The process has
    /// received a message, or has no memory to wait for one.
    [[nodiscard]] bool take_grant(const Parties& parties, std::int32_t rank,
                                  WholeKind kind) noexcept {
        const std::lock_guard guard(mutex_);
        std::uint32_t& granted = parties.of(rank).granted[kind];
        if (granted == 0) return false;
        --granted;
        return true;
    }
    /// Finds the processes that are to be notified, one after the other, beginning with Told{}.
    /// Returns false if there are no more.
    [[nodiscard]] bool take_untold(const Parties& parties, Told& told) noexcept {
        const std::lock_guard guard(mutex_);
        for (; static_cast<std::size_t>(told.rank) < parties.count && untold_ != 0; ++told.rank)
            for (std::uint8_t kind = 0; kind < whole_kinds; ++kind) {
                std::uint32_t& untold = parties.of(told.rank).untold[kind];
                if (untold == 0) continue;
                --untold;
                --untold_;
                told.kind = static_cast<WholeKind>(kind);
                return true;
            }
        return false;
    }
    bool readers_are_firm() const noexcept { return firm_of(word_.load(relaxed)) != 0; }

private:
    static constexpr unsigned bits = 21;
    static constexpr std::uint64_t one_reader = 1, one_firm = one_reader << bits,
                                   one_writer = one_firm << bits, busy = one_writer << bits,
                                   most = one_firm - 1;

    static constexpr std::uint64_t readers_of(std::uint64_t word) noexcept { return word & most; }
    static constexpr std::uint64_t firm_of(std::uint64_t word) noexcept {
        return word >> bits & most;
    }
    static constexpr std::uint64_t writers_of(std::uint64_t word) noexcept {
        return word >> 2 * bits & most;
    }

    /// The mutex and the word, held as long as the object lives.
    class Held {
    public:
        Held(BasicWholeLock& lock, const Parties& parties) noexcept
            : lock_(lock), parties_(parties) {
            lock_.mutex_.lock();
            const std::uint64_t word = lock_.word_.fetch_or(busy, acq_rel);  // A1
            readers = readers_of(word);
            firm = firm_of(word);
            writers = writers_of(word);
        }
        ~Held() {
            std::uint64_t word = readers * one_reader + firm * one_firm + writers * one_writer;
            if (lock_.somebody_waits()) word |= busy;
            lock_.word_.store(word, release);  // R1: publishes what came before
            lock_.mutex_.unlock();
        }
        Held(const Held&) = delete;
        Held& operator=(const Held&) = delete;

        void let_holders_in() noexcept {
            if (firm == 0) writers += grant(holder_in);
        }
        /// Lets waiters in when readers have left, those of kind `first` before others.
        void let_others_in(WholeKind first) noexcept {
            if (readers != 0) return;
            if (first == writer_in) writers += grant(writer_in);
            if (writers == 0) readers += grant(readers_in);
            if (readers == 0 && writers == 0) writers += grant(writer_in);
        }
        void call_loose_readers() noexcept {
            if (writers != 0 || lock_.want_to_be_firm_ == 0) return;
            for (std::size_t i = 0; i < parties_.count; ++i) {
                WholeParty& party = parties_.first[i];
                if (party.wants_to_be_firm == 0) continue;
                party.wants_to_be_firm = 0;
                ++party.untold[readers_in];
                ++lock_.untold_;
            }
            lock_.want_to_be_firm_ = 0;
        }

        std::uint64_t readers, firm, writers;

    private:
        /// Lets in all waiters of this kind. Returns how many there were.
        std::uint32_t grant(WholeKind kind) noexcept {
            const std::uint32_t all = lock_.waiting_[kind];
            if (all == 0) return 0;
            for (std::size_t i = 0; i < parties_.count; ++i) {
                WholeParty& party = parties_.first[i];
                party.granted[kind] += party.waiting[kind];
                party.untold[kind] += party.waiting[kind];
                party.waiting[kind] = 0;
            }
            lock_.untold_ += all;
            lock_.waiting_[kind] = 0;
            return all;
        }

        BasicWholeLock& lock_;
        const Parties& parties_;
    };

    bool somebody_waits() const noexcept {
        return (waiting_[writer_in] | waiting_[holder_in] | waiting_[readers_in] |
                want_to_be_firm_) != 0;
    }
    /// Subtracts `what` from the word as long as no process waits. R1: publishes what was done.
    bool try_to_take_off(std::uint64_t what) noexcept {
        std::uint64_t word = word_.load(relaxed);
        while ((word & busy) == 0)
            if (word_.compare_exchange_strong(word, word - what, acq_rel, relaxed)) return true;
        return false;
    }
    void queue(WholeParty& me, WholeKind kind) noexcept {
        ++me.waiting[kind];
        ++waiting_[kind];
    }

    WholeState enter_slowly(const Parties& parties, std::int32_t rank) noexcept {
        Held held(*this, parties);
        const bool writers_wait = (waiting_[writer_in] | waiting_[holder_in]) != 0;
        if (writers_wait || (held.writers != 0 && held.readers == 0)) {
            queue(parties.of(rank), readers_in);
            return WholeState::queued;
        }
        ++held.readers;
        if (held.writers != 0) return WholeState::loose;
        ++held.firm;
        return WholeState::in;
    }
    WholeState enter_as_writer_slowly(const Parties& parties, std::int32_t rank,
                                      bool is_holder) noexcept {
        Held held(*this, parties);
        if (is_holder ? held.firm == 0 : held.readers == 0 && waiting_[readers_in] == 0) {
            ++held.writers;
            return WholeState::in;
        }
        queue(parties.of(rank), is_holder ? holder_in : writer_in);
        return WholeState::queued;
    }

    typename World::template Atom<std::uint64_t> word_{0};
    Mutex mutex_;
    // Guarded by the mutex:
    std::uint32_t waiting_[whole_kinds] = {};
    std::uint32_t want_to_be_firm_ = 0;
    std::uint32_t untold_ = 0;
};

}  // namespace heddle::rma

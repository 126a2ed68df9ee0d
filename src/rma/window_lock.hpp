// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The lock of a target's window memory: one writer or many readers, in the order in which they
/// asked.
///
/// It lies in memory that the processes of the window share. A process that wants it takes a
/// ticket. A ticket is admitted when all before it are done. A reader's ticket is admitted earlier:
/// when all before it are readers who have come in. So no process is overtaken.
///
/// Sleeping       the lock puts no process to sleep. A waiter leaves its rank in the place of its
///                ticket and looks once more whether it is admitted. Then it waits for a message.
///                The process that makes it admitted takes the rank out of its place and returns
///                it. Its caller sends the message (rma/locking.cpp). So each rank that is left
///                leads to one message, or its owner takes it back.
/// Invariants     (1) read_ <= users_ and write_ <= users_, as far as numbers that wrap around can
///                be compared.
///                (2) tickets from read_ on have not come in, but for a writer whose ticket is
///                    write_.
///                (3) each process has at most one ticket at a time. So the places of waiters
///                    differ: they are as many as processes and a power of two.
/// Zeroes         are a free lock.

#include <atomic>
#include <cstdint>

#include "sync/native.hpp"
#include "sync/orders.hpp"

namespace heddle::rma {

template <class World = sync::NativeNode>
class BasicWindowLock {
public:
    using Ticket = std::uint32_t;
    using Place = typename World::template Atom<std::uint32_t>;
    /// An empty place. Otherwise a place has rank + 1, and a bit for a writer.
    static constexpr std::uint32_t nobody = 0;

    /// A waiter's view of the places: `count` of them, a power of two.
    struct Places {
        Place* first;
        std::uint32_t count;
        Place& of(Ticket ticket) const noexcept { return first[ticket & (count - 1)]; }
    };

    Ticket take_ticket() noexcept { return users_.fetch_add(1, relaxed); }

    bool admits_reader(Ticket ticket) const noexcept {
        return read_.load(seq_cst) == ticket;  // A1: pairs with R1; A2: pairs with R2
    }
    bool admits_writer(Ticket ticket) const noexcept {
        return write_.load(seq_cst) == ticket;  // A3: pairs with R2
    }

    /// Takes in a reader that is admitted, before it does anything else. Returns the entry of the
    /// waiter to notify, see below.
    std::uint32_t come_in(Ticket ticket, const Places& places) noexcept {
        read_.store(ticket + 1, seq_cst);  // R1: lets the next one in if it is a reader
        return next_admitted(ticket + 1, places);
    }
    std::uint32_t leave_as_reader(const Places& places) noexcept {
        const Ticket next = write_.fetch_add(1, seq_cst) + 1;  // R2, as below
        return next_admitted(next, places);
    }
    /// Releases the lock and lets the next one in, whether it reads or writes.
    std::uint32_t leave_as_writer(Ticket ticket, const Places& places) noexcept {
        // Before write_, which lets another writer in: that one may store it.
        read_.store(ticket + 1, release);
        const Ticket next = write_.fetch_add(1, seq_cst) + 1;  // R2: publishes what the holder did
        return next_admitted(next, places);
    }

    /// Leaves `rank` to be notified. The caller then looks whether it is admitted.
    void wait_in_place(Ticket ticket, std::int32_t rank, bool writer,
                       const Places& places) noexcept {
        // B1: pairs with B2; either this thread sees that it is admitted, or the other one sees it.
        places.of(ticket).store(entry_of(rank, writer), seq_cst);
    }
    /// Takes the rank back. Returns false if another process has taken it, and notifies this one.
    [[nodiscard]] bool stop_waiting(Ticket ticket, const Places& places) noexcept {
        return places.of(ticket).exchange(nobody, acq_rel) != nobody;
    }

    /// Returns the rank in an entry that come_in() or a function beside it returned. A negative
    /// rank means that no process is to be notified.
    static std::int32_t rank_in(std::uint32_t entry) noexcept {
        return static_cast<std::int32_t>(entry >> 1) - 1;
    }
    /// Returns whether a process has the lock or waits for it, for a report.
    bool in_use() const noexcept { return users_.load(relaxed) != write_.load(relaxed); }

private:
    static std::uint32_t entry_of(std::int32_t rank, bool writer) noexcept {
        return static_cast<std::uint32_t>(rank + 1) << 1 | std::uint32_t{writer};
    }

    /// Takes the waiter with this ticket out of its place if there is one, and it is admitted by
    /// now.
    std::uint32_t next_admitted(Ticket ticket, const Places& places) noexcept {
        Place& place = places.of(ticket);
        const std::uint32_t entry = place.load(seq_cst);  // B2: pairs with B1
        if (entry == nobody) return nobody;
        const bool writer = (entry & 1) != 0;
        if (writer ? !admits_writer(ticket) : !admits_reader(ticket)) return nobody;
        return place.exchange(nobody, acq_rel);
    }

    typename World::template Atom<std::uint32_t> users_{0};
    typename World::template Atom<std::uint32_t> read_{0};  ///< the next reader's ticket to come in
    typename World::template Atom<std::uint32_t> write_{
        0};  ///< tickets that are done, as far as writers care
};

using WindowLock = BasicWindowLock<>;

}  // namespace heddle::rma

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A ring of one-line cells in shared memory. It leads from one instance of a sending process to
/// the same instance of a receiving process.
///
/// A message takes one cell, header and small payload in a single line transfer, or several cells
/// in a row. The payload then runs on through the lines that follow its header. A message that
/// would run past the end of the ring begins at its start; a filler takes the cells left over.
///
/// Thread safety  one Producer user at a time (the instance's outbox lock). One Consumer user at a
///                time (the instance's lock); but any thread may call ready().
/// Invariants     (1) head <= tail <= head + slots; cells in [head, tail) belong to the consumer.
///                (2) the cell at the consumer's head is a ready header exactly if its sequence is
///                    head + 1 (R1). The header covers the cells that follow it.
///                (3) the cell at tail never holds a matching sequence. If it last carried payload,
///                    the producer wipes it before it publishes the message before it. It does the
///                    same for the one cell in which a zero may match, if the cell's page was
///                    dropped.
/// Full ring      reserve() returns nullptr and has changed nothing.
/// Pressure       a consumer that is short of memory marks the head that it gives back. The
///                producer counts the mark as part of the number, to which nothing fits. So its
///                short path is closed without another question. A message that takes another path
///                calls reserve_in_spite().
/// Idle pages     cells outside [head, tail) are the producer's. If a page has no other cells, the
///                producer may drop its contents, as if it stored zeroes there. The kernel takes
///                the pages out of all processes before it returns. The consumer looks at no other
///                word of them than the sequence at tail. There it finds either the former value or
///                zero: no message, by (3). R1 publishes the message that is written there next, as
///                ever (docs/adr/0038-idle-rings.md).
/// Why one pair   a ring that several processes share needs a locked instruction for each message.
///                That waits until the line of the message before has come from the other core
///                (docs/adr/0001-private-rings.md).

#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>

#include "node/sizes.hpp"
#include "sync/asymmetric_fence.hpp"
#include "sync/orders.hpp"
#include "transport/header.hpp"

namespace heddle::node {

inline constexpr std::size_t ring_slots = 512;

/// One line: the header of a message and its payload, or their beginning.
struct alignas(cache_line) Cell : transport::Header {
    std::byte first[cache_line - sizeof(transport::Header)];  ///< beginning of the payload

    /// Returns the sequence of a header: both sides look at it while the other may write.
    std::atomic_ref<std::uint32_t> shared_sequence() noexcept { return std::atomic_ref(sequence); }
};
static_assert(sizeof(Cell) == cache_line);

inline constexpr std::uint8_t filler = 0xff;  ///< kind of a cell that only fills up the ring
inline constexpr std::size_t inline_payload = sizeof(Cell::first);
/// Largest payload of a message: a quarter of the ring, so that messages overlap in it.
inline constexpr std::size_t most_payload = ring_slots / 4 * cache_line + inline_payload;

inline constexpr std::size_t page_cells = page_bytes / sizeof(Cell);
inline constexpr std::size_t ring_pages = ring_slots / page_cells;
/// Some of the pages of a ring, which begins with a page.
using RingPages = std::bitset<ring_pages>;

constexpr std::size_t cells_for(std::size_t bytes) noexcept {
    return bytes <= inline_payload ? 1 : 1 + (bytes - inline_payload + cache_line - 1) / cache_line;
}

/// The mark of a head under pressure.
inline constexpr std::uint64_t pressure = std::uint64_t{1} << 63;

/// State that the two sides share besides the cells. Zeroes are a valid empty cold ring.
struct Control {
    /// Consumer: cells before it are free; and `pressure`, or not.
    alignas(cache_line) std::atomic<std::uint64_t> head;
    alignas(cache_line) std::atomic<std::uint32_t> hot;  ///< consumer: 1 while it polls this ring
    std::atomic<std::uint32_t> starving;                 ///< producer: 1 while it waits for room
};

class Producer {
public:
    Producer() = default;
    /// `begin`: position of the first cell, a multiple of the slots. The consumer has it, too.
    Producer(Control& control, Cell* cells, std::uint64_t begin = 0) noexcept
        : tail_(begin), seen_head_(begin) {
        bind(control, cells);
    }

    /// Sets the addresses at which the ring is mapped, which may have changed.
    void bind(Control& control, Cell* cells) noexcept {
        control_ = &control;
        cells_ = cells;
    }

    /// Returns room for a message of `cells` cells (at most cells_for(most_payload)), or nullptr if
    /// there is none.
    [[nodiscard, gnu::always_inline]] Cell* reserve(std::size_t cells) noexcept {
        const std::size_t place = tail_ & (ring_slots - 1);
        if (place + cells > ring_slots) [[unlikely]]
            return reserve_at_start(cells);
        if (!has_room(cells)) [[unlikely]]
            return nullptr;
        return &cells_[place];
    }

    /// Does the same however short of memory the consumer is: for a message that costs it none, or
    /// very little.
    [[nodiscard]] Cell* reserve_in_spite(std::size_t cells) noexcept;

    /// Does the same as reserve() for a message of one cell. Returns whether there is room;
    /// at_tail() is then its place.
    [[nodiscard, gnu::always_inline]] bool has_room_for_one() noexcept { return has_room(1); }
    [[nodiscard, gnu::always_inline]] Cell& at_tail() noexcept {
        return cells_[tail_ & (ring_slots - 1)];
    }

    /// Hands a reserved and written message over. The caller has written everything but sequence
    /// and cells.
    [[gnu::always_inline]] void publish(Cell& cell, std::size_t cells) noexcept {
        cell.cells = static_cast<std::uint16_t>(cells);
        const std::uint64_t next = tail_ + cells;
        if (cells > 1) [[unlikely]]
            note_payload(cells);
        if (payload_cells_ != 0) [[unlikely]]
            wipe(next);
        // R1: publishes cell and payload; pairs with A1 in front().
        cell.shared_sequence().store(static_cast<std::uint32_t>(tail_ + 1), release);
        tail_ = next;
    }

    /// Returns, after publish(), whether the consumer must be notified since it does not poll this
    /// ring.
    [[nodiscard]] bool cold() const noexcept {
        sync::NodeFence::light();  // F1: pairs with F2, at which the consumer stops polling
        return control_->hot.load(relaxed) == 0;
    }

    /// Asks to be woken when cells become free; the caller then tries once more after a heavy
    /// fence. Returns false if a thread has asked before, and the consumer knows or that thread's
    /// fence covers it.
    [[nodiscard]] bool starve() noexcept {
        if (control_->starving.load(relaxed) != 0) return false;
        control_->starving.store(1, relaxed);
        return true;
    }

    /// Returns the consumer's head; may be called without the outbox.
    std::uint64_t given_back() const noexcept {
        return control_->head.load(relaxed) & ~pressure;  // a hint
    }
    /// Returns pages with nothing that the consumer may still read. A page at which the consumer
    /// looks all the time is not among them.
    [[nodiscard]] RingPages idle_pages() const noexcept;
    /// Notes that there may be zeroes in these pages now.
    void note_dropped(RingPages pages) noexcept;

private:
    bool has_room(std::size_t cells) noexcept {
        // One cell more than needed stays free, so that it may be wiped (invariant 3).
        if (tail_ + cells - seen_head_ < ring_slots) [[likely]]
            return true;
        seen_head_ = control_->head.load(acquire);  // A2: pairs with R2
        return tail_ + cells - seen_head_ < ring_slots;
    }
    Cell* reserve_at_start(std::size_t cells) noexcept;
    void note_payload(std::size_t cells) noexcept;
    void wipe_later(std::size_t place) noexcept;
    void wipe(std::uint64_t position) noexcept;

    Control* control_ = nullptr;
    Cell* cells_ = nullptr;
    std::uint64_t tail_ = 0;
    std::uint64_t seen_head_ = 0;              ///< latest known head, with its mark
    std::size_t payload_cells_ = 0;            ///< number of bits set in carried_payload_
    std::bitset<ring_slots> carried_payload_;  ///< or the cell may hold a zero that matches
};

class Consumer {
public:
    Consumer() = default;
    explicit Consumer(std::uint64_t begin) noexcept : head_(begin), published_(begin) {}

    /// Sets the addresses at which the ring is mapped, which may have changed. `mark`: a value to
    /// add to a head that is given back, 0 or `pressure`.
    void bind(Control& control, Cell* cells, const std::atomic<std::uint64_t>& mark) noexcept {
        control_ = &control;
        cells_ = cells;
        mark_ = &mark;
    }

    /// Returns the next message, or nullptr if there is none. It is the consumer's until pop().
    [[nodiscard]] Cell* front() noexcept {
        for (;;) {
            const std::uint64_t head = head_.load(relaxed);  // written by this side only
            Cell& cell = cells_[head & (ring_slots - 1)];
            // A1: pairs with R1.
            if (cell.shared_sequence().load(acquire) != static_cast<std::uint32_t>(head + 1))
                return nullptr;
            if (cell.kind != filler) [[likely]]
                return &cell;
            pop(cell);
        }
    }

    void pop(const Cell& cell) noexcept {
        const std::uint64_t head = head_.load(relaxed) + cell.cells;
        head_.store(head, relaxed);
        if (head - published_ >= free_step) give_back(head);
    }

    /// Returns whether front() would find a message; a hint when another thread consumes. It may
    /// then look at a line that has passed on to the producer, who is writing payload there. That
    /// is a race on a value on which no caller relies, and ThreadSanitizer is not told of it. (The
    /// load is built in, since ThreadSanitizer would see a load in a function called from here.)
    [[nodiscard]] __attribute__((no_sanitize("thread"))) bool ready() const noexcept {
        const std::uint64_t head = head_.load(relaxed);
        const Cell& cell = cells_[head & (ring_slots - 1)];
        return __atomic_load_n(&cell.sequence, __ATOMIC_RELAXED) ==
            static_cast<std::uint32_t>(head + 1);
    }

    /// Returns true, once, if the producer starves and cells have been given back since it said so.
    [[nodiscard]] bool producer_starves() noexcept {
        if (!starved_) [[likely]]
            return false;
        starved_ = false;
        return true;
    }

    /// Gives back all that has been read, also if that is not worth a line transfer by itself. The
    /// caller is not going to look here for a while.
    void give_back_all() noexcept {
        if (const std::uint64_t head = head_.load(relaxed); head != published_) give_back(head);
    }

    bool hot() const noexcept { return control_->hot.load(relaxed) != 0; }
    /// Call this only while this process attends the ring. Cooling takes effect with a heavy node
    /// fence (F2), after which the caller must look at the ring once more.
    void set_hot(bool hot) noexcept { control_->hot.store(hot ? 1 : 0, relaxed); }

    std::uint64_t consumed() const noexcept { return head_.load(relaxed); }

private:
    /// Freed cells are given back in batches: each time costs the producer a line transfer.
    static constexpr std::uint64_t free_step = 64;

    void give_back(std::uint64_t head) noexcept {
        published_ = head;
        // R2: pairs with A2; the cells have been read. The mark is a hint.
        control_->head.store(head | mark_->load(relaxed), release);
        sync::NodeFence::light();  // pairs with the starving producer's heavy fence
        if (control_->starving.load(relaxed) != 0) [[unlikely]] {
            control_->starving.store(0, relaxed);
            starved_ = true;
        }
    }

    Control* control_ = nullptr;
    Cell* cells_ = nullptr;
    const std::atomic<std::uint64_t>* mark_ = nullptr;
    std::atomic<std::uint64_t> head_{0};  // atomic for ready() only
    std::uint64_t published_ = 0;
    bool starved_ = false;
};

}  // namespace heddle::node

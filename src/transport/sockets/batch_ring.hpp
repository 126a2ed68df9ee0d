// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A ring of batches in memory that two processes of one machine share. It has one producer and one
/// consumer, which takes batches where they lie.
///
/// Records        a Frame and its batch, at multiples of 8 bytes, never across the end. A Frame of
///                kind `skip` skips what is left there. Positions count bytes from the beginning of
///                time, modulo 2^64.
/// Invariants     (1) head <= tail <= head + size.
///                (2) bytes below tail were written before tail was; those below head are the
///                    producer's again.
/// Bells          a consumer that is *cold* looks at the ring only when the producer rings. A
///                producer that *waits* tries again when the consumer rings. The ring does not say
///                by what. Each says that it is cold or waits, then looks once more (S1, S2). The
///                other side publishes first, then asks whether to ring. All four are sequentially
///                consistent, so that at least one of the two sees the other's store. A ring
///                without need does no harm.
/// Trust          none: a consumer checks all that it reads before it uses it, and says when it was
///                no ring.
/// Thread safety  one thread at a time on each side.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "sync/native.hpp"
#include "transport/sockets/hello.hpp"

namespace heddle::transport::sockets {

/// The beginning of the shared memory. Zeroes are an empty ring, whose consumer is not cold.
template <class World = sync::NativeNode>
struct BasicRingWords {
    alignas(cache_line) typename World::template Atom<std::uint64_t> tail{0};  ///< the producer's
    alignas(cache_line) typename World::template Atom<std::uint64_t> head{0};  ///< the consumer's
    alignas(cache_line) typename World::template Atom<std::uint32_t> cold{0};
    alignas(cache_line) typename World::template Atom<std::uint32_t> waits{0};
};

template <class World = sync::NativeNode>
class BasicRingProducer {
public:
    using Words = BasicRingWords<World>;

    /// The size of `memory` is a power of two, and holds three of the longest frames.
    BasicRingProducer(Words& words, std::span<std::byte> memory) noexcept
        : words_(words), memory_(memory) {}

    /// Returns false if there is no room; then nothing was changed.
    bool push(Bytes batch) noexcept {
        const Frame frame = Frame::of_batch(batch.size());
        const std::size_t to_end = memory_.size() - at(tail_);
        const std::size_t skipped = to_end < frame.whole() ? to_end : 0;
        if (!has_room(skipped + frame.whole())) return false;
        if (skipped != 0) write({0, Frame::Kind::skip}, {});
        tail_ += skipped;
        write(frame, batch);
        tail_ += frame.whole();
        // R1: pairs with A1. S1: before should_ring() looks at `cold`.
        words_.tail.store(tail_, seq_cst);
        return true;
    }
    /// Returns, after push(), whether the consumer is to be rung for.
    bool should_ring() noexcept {
        // S1: pairs with go_cold(). An exchange, so that one ring is enough.
        return words_.cold.load(seq_cst) != 0 && words_.cold.exchange(0, acq_rel) != 0;
    }
    /// Call this after push() has refused: from now on the consumer rings when there is room.
    /// Returns false if there is room already.
    bool wait() noexcept {
        words_.waits.store(1, seq_cst);  // S2: pairs with free()
        if (words_.head.load(seq_cst) == head_) return true;
        words_.waits.store(0, relaxed);  // a ring without need does no harm
        return false;
    }
    /// Returns whether something has become free since push() refused.
    bool may_push() const noexcept { return words_.head.load(relaxed) != head_; }  // a hint

private:
    std::size_t at(std::uint64_t position) const noexcept {
        return position & (memory_.size() - 1);
    }
    bool has_room(std::size_t bytes) noexcept {
        if (memory_.size() - (tail_ - head_) >= bytes) return true;
        head_ = words_.head.load(acquire);  // A2: pairs with R2; what is free is not read any more
        return memory_.size() - (tail_ - head_) >= bytes;
    }
    void write(Frame frame, Bytes batch) noexcept {
        std::byte* const place = memory_.data() + at(tail_);
        std::memcpy(place, &frame, sizeof frame);
        if (!batch.empty()) std::memcpy(place + sizeof frame, batch.data(), batch.size());
    }

    Words& words_;
    const std::span<std::byte> memory_;
    std::uint64_t tail_ = 0;
    std::uint64_t head_ = 0;  ///< as far as the producer knows
};

template <class World = sync::NativeNode>
class BasicRingConsumer {
public:
    using Words = BasicRingWords<World>;

    BasicRingConsumer(Words& words, std::span<std::byte> memory) noexcept
        : words_(words), memory_(memory) {}

    /// Returns whether there is a batch. Returns false, too, if the ring is broken.
    bool look() noexcept {
        if (next_ != tail_) return true;
        tail_ = words_.tail.load(acquire);  // A1: pairs with R1
        if (tail_ - next_ > memory_.size() || tail_ % sizeof(Frame) != 0) broken_ = true;
        if (broken_) tail_ = next_;
        return next_ != tail_;
    }
    /// Returns the next batch, where it lies. Returns nothing if there is none, or the ring is
    /// broken. Its bytes are the caller's until free().
    std::span<std::byte> take() noexcept {
        if (!look()) return {};
        Frame frame = frame_at(next_);
        if (frame.kind == Frame::Kind::skip) {
            next_ += memory_.size() - at(next_);
            if (tail_ - next_ - 1 >= memory_.size()) return break_off();
            frame = frame_at(next_);
        }
        const std::size_t most = std::min<std::size_t>(tail_ - next_, memory_.size() - at(next_));
        if (!frame.is_batch() || frame.whole() > most) return break_off();
        const std::size_t place = at(next_) + sizeof frame;
        next_ += frame.whole();
        return memory_.subspan(place, frame.bytes);
    }
    /// Returns the position behind the batch that was taken last.
    std::uint64_t position() const noexcept { return next_; }
    /// Gives all below this position, behind a batch that was taken, back to the producer. Returns
    /// whether the producer is to be rung for.
    bool free(std::uint64_t position) noexcept {
        words_.head.store(position, seq_cst);  // R2: pairs with A2. S2: before the look at `waits`
        return words_.waits.load(seq_cst) != 0 && words_.waits.exchange(0, acq_rel) != 0;
    }
    /// Makes the ring cold: from now on the consumer looks only when the producer rings. Returns
    /// false if there is something; then the ring is not cold.
    /// something; then it is not cold.
    bool go_cold() noexcept {
        words_.cold.store(1, seq_cst);  // S1: pairs with should_ring()
        if (next_ == tail_ && words_.tail.load(seq_cst) == tail_) return true;
        go_hot();
        return false;
    }
    void go_hot() noexcept { words_.cold.store(0, relaxed); }  // a ring without need does no harm
    bool is_broken() const noexcept { return broken_; }

private:
    std::size_t at(std::uint64_t position) const noexcept {
        return position & (memory_.size() - 1);
    }
    Frame frame_at(std::uint64_t position) const noexcept {
        Frame frame{};
        std::memcpy(&frame, memory_.data() + at(position), sizeof frame);
        return frame;
    }
    std::span<std::byte> break_off() noexcept {
        broken_ = true;
        tail_ = next_;
        return {};
    }

    Words& words_;
    const std::span<std::byte> memory_;
    std::uint64_t next_ = 0;
    std::uint64_t tail_ = 0;  ///< as far as the consumer knows
    bool broken_ = false;
};

}  // namespace heddle::transport::sockets

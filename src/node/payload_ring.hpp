// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A ring of payload in shared memory. It leads from one instance of a sending process to the same
/// instance of a receiving process. Headers go through the ring of cells (node/ring.hpp). They say
/// where the payload lies.
///
/// Stored in      blocks of 16 KiB that are walked in order. So a line has left the producer's own
///                cache for one that both share before it is written again. A piece lies in one
///                block.
/// Freed          block by block, in whatever order messages are received. The bytes of a block
///                that have been read are counted. The producer enters a block again when all that
///                it stored there has been read.
/// Placed         a message that lies in one piece, stored before its header is published.
/// Streamed       a message of pieces that follow each other. Its header is published first, and
///                names a Manifest, in which the producer says how much it has stored. Messages are
///                streamed one after the other.
/// Claimed        before the producer stores pieces it claims their bytes, some pieces at once. A
///                consumer that does not want to wait any more closes the message. No bytes come
///                that were not claimed, and the consumer is told how many were.
/// Extent         how much of the ring is walked: little at first, since each page of it costs
///                microseconds once. It grows with the length of the messages that go through it,
///                and when it is full. It also grows when messages of half a block or more have
///                walked it for long. Their lines are stored fastest when a walk is longer than the
///                caches of a core. In a short walk the consumer's cache still has the lines that
///                are stored anew. For shorter messages that is faster on some processors
///                (platform/copy_table.hpp).
///
/// Thread safety  one user of the producer at a time (the instance's outbox lock); the consumer by
///                any thread, one for each message.
/// Invariants     (1) a block is entered only when its `freed` has come to what was stored in it.
///                (2) bytes before Manifest::stored have been stored; those from there to
///                    `claimed` are being stored, whatever the consumer does.
///                (3) a manifest is used again when its consumer has left it and nothing is
///                    streamed by it.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "node/distance.hpp"
#include "platform/cpu.hpp"
#include "sync/native.hpp"
#include "sync/orders.hpp"

namespace heddle::node {

/// Sizes of all payload rings; simulations have smaller ones.
struct PayloadSizes {
    static constexpr std::uint64_t block = 16384;
    static constexpr std::uint64_t blocks = 256;
    static constexpr std::uint64_t first_blocks = 4;    ///< blocks of the first extent
    static constexpr std::uint64_t claimed_blocks = 4;  ///< most blocks that are claimed at once
    static constexpr unsigned manifests = 64;  ///< messages that are streamed or not received
    /// Bytes of data, at the beginning of the ring.
    static constexpr std::size_t first_bytes = first_blocks * block;
};

/// A part of a message: its place in the ring and its length, in bytes.
struct Piece {
    std::uint64_t at;
    std::uint64_t bytes;
};

/// Room for a part of a message that may be stored now.
struct Room {
    Piece first;
    std::uint64_t bytes;  ///< bytes of this piece and those behind it; 0: there is none
    bool is_closed;       ///< the consumer wants nothing more
};

/// Returns how much room a part of a message takes: whole lines.
constexpr std::uint64_t whole_lines(std::uint64_t bytes) noexcept {
    return (bytes + cache_line - 1) / cache_line * cache_line;
}

/// The memory of a ring, which both sides share. Zeroes are a valid empty one.
template <class World, class Sizes>
struct BasicPayloadRing {
    template <class T>
    using Atom = typename World::template Atom<T>;

    static constexpr std::uint64_t closed = std::uint64_t{1} << 63;

    struct Manifest {
        // The producer's.
        alignas(cache_line) Atom<std::uint64_t> stored;  ///< bytes of the message
        std::uint64_t start;   ///< offset of the first piece; good once something is claimed
        std::uint64_t extent;  ///< likewise: end of the ring for this message
        /// The producer's, until the consumer closes it.
        alignas(cache_line)
            Atom<std::uint64_t> claimed;  ///< bytes of the message; and `closed`, or not
    };
    struct Block {
        alignas(cache_line) Atom<std::uint64_t> freed;  ///< bytes freed, ever
    };

    alignas(cache_line) Atom<std::uint32_t> ready;  ///< consumer: 1 when it has mapped the ring
    alignas(cache_line) Atom<std::uint64_t> left;   ///< consumer: bit of each manifest it has left
    alignas(cache_line) Manifest manifests[Sizes::manifests];
    Block blocks[Sizes::blocks];
    alignas(4096) std::byte data[Sizes::blocks * Sizes::block];

    static Piece piece(std::uint64_t at, std::uint64_t left_of_message) noexcept {
        return {at, std::min(left_of_message, Sizes::block - at % Sizes::block)};
    }
    static std::uint64_t behind(const Piece& piece, std::uint64_t extent) noexcept {
        const std::uint64_t end = piece.at + whole_lines(piece.bytes);
        return end == extent ? 0 : end;
    }
    static bool is_block(const Piece& piece) noexcept { return piece.bytes == Sizes::block; }
};

template <class World, class Sizes>
class BasicPayloadProducer {
public:
    using Ring = BasicPayloadRing<World, Sizes>;
    /// `most`: how many bytes the producer may walk.
    BasicPayloadProducer(Ring& ring, std::uint64_t most) noexcept
        : ring_(&ring),
          most_(std::clamp(most / Sizes::block, std::uint64_t{1}, Sizes::blocks) * Sizes::block),
          needed_(std::min(Sizes::first_blocks * Sizes::block, most_)),
          extent_(needed_) {}

    /// Sets the address at which the ring is mapped, which may have changed.
    void bind(Ring& ring) noexcept { ring_ = &ring; }

    /// Returns whether the consumer has mapped the ring, and will read what comes.
    bool is_ready() noexcept {
        if (!ready_) [[unlikely]]
            ready_ = ring_->ready.load(acquire) != 0;  // A1: pairs with R1
        return ready_;
    }

    // --- messages of one piece ---

    /// Takes room in one block. Returns nothing if there is none, or while something is streamed.
    std::optional<std::uint64_t> reserve(std::uint64_t bytes) noexcept {
        if (streaming_ != 0) return std::nullopt;
        extend(bytes);
        if (tail_ % Sizes::block + bytes > Sizes::block) skip_block();
        begin_walk();
        if (!is_entered()) return std::nullopt;
        const std::uint64_t at = tail_;
        advance({at, bytes});
        return at;
    }
    std::byte* at(std::uint64_t place) noexcept { return ring_->data + place; }

    /// Writes to some of the free lines in which a message as long as the last one would be stored.
    /// So these lines are in this core's cache when it is stored. Otherwise each has to come from
    /// the core that read it last. Returns false if no line is left to be taken before the next
    /// message.
    bool take_lines_ahead() noexcept {
        if (last_ < least_ahead) return false;
        const std::uint64_t bytes = whole_lines(std::min(last_, most_ahead));
        const bool fits = tail_ % Sizes::block + std::min(last_, Sizes::block) <= Sizes::block;
        const std::uint64_t first = fits ? tail_ : behind_block(tail_);
        // Many at once would delay what the thread waits for.
        for (unsigned n = last_ < Sizes::block ? 8 : 16; n != 0; --n) {
            const std::uint64_t place = (first + ahead_) % extent_;
            if (ahead_ >= bytes || !is_free_at(place)) return false;
            // No thread will read what lies in this line.
            std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at(place))).store(0, relaxed);
            ahead_ += cache_line;
        }
        return true;
    }

    /// Stores a dense piece. Some of them tell how far the consumer is.
    void store(const Piece& piece, const std::byte* from) noexcept {
        if (Ring::is_block(piece) && distance_.is_due()) [[unlikely]]
            return store_with_sample(piece, from);
        copy(piece, from);
    }

    // --- messages of several pieces ---

    /// Returns a manifest for another message, or nothing if all are in use.
    std::optional<unsigned> take_manifest() noexcept {
        // A2: pairs with R2.
        if ((free_ & ~streaming_) == 0) free_ |= ring_->left.exchange(0, acquire);
        if ((free_ & ~streaming_) == 0) return std::nullopt;
        const auto number = static_cast<unsigned>(std::countr_zero(free_ & ~streaming_));
        free_ &= ~bit(number);
        streaming_ |= bit(number);
        auto& manifest = ring_->manifests[number];
        manifest.stored.store(0, relaxed);   // published by the header
        manifest.claimed.store(0, relaxed);  // likewise
        return number;
    }
    /// Claims room for some of the `left` bytes that follow the first `stored` ones of a message.
    /// It is the message's when this returns, and all of it is to be stored.
    Room claim(unsigned number, std::uint64_t stored, std::uint64_t left) noexcept {
        if (stored == 0) {
            extend(left);
            begin_walk();
        }
        if (!is_entered()) return {};
        const Piece first = Ring::piece(tail_, left);
        const std::uint64_t bytes = room_from(first, left);
        auto& manifest = ring_->manifests[number];
        if (stored == 0) {
            manifest.start = first.at;
            manifest.extent = extent_;
        }
        // R3: pairs with A3; for start and extent.
        if ((manifest.claimed.fetch_add(bytes, acq_rel) & Ring::closed) != 0) return {{}, 0, true};
        Piece piece = first;
        for (std::uint64_t to_come = bytes; to_come != 0; to_come -= piece.bytes) {
            piece = Ring::piece(tail_, to_come);
            (void)is_entered();
            advance(piece);
        }
        return {first, bytes, false};
    }
    /// Returns the piece behind `piece`, if `left` bytes follow it.
    Piece next_piece(const Piece& piece, std::uint64_t left) const noexcept {
        return Ring::piece(Ring::behind(piece, extent_), left);
    }
    /// Says that so many bytes of the message have been stored.
    void publish(unsigned number, std::uint64_t stored) noexcept {
        ring_->manifests[number].stored.store(stored, release);  // R4: pairs with A4
    }
    /// Says that nothing more is streamed by this manifest.
    void end_stream(unsigned number) noexcept { streaming_ &= ~bit(number); }
    bool is_streaming() const noexcept { return streaming_ != 0; }

    std::uint64_t extent() const noexcept { return extent_; }

private:
    static constexpr std::uint64_t rounds_before_more = 4;
    static constexpr std::uint64_t rounds_before_more_in_any_case = 16;
    static constexpr std::uint64_t messages_in_a_round = 32;
    /// Each page of the whole ring costs a fault on both sides once. So short messages use them
    /// when so many bytes have gone through less.
    static constexpr std::uint64_t worth_the_pages = std::uint64_t{64} << 20;
    static constexpr std::uint64_t least_ahead = Sizes::block / 16;
    static constexpr std::uint64_t most_ahead = 16 * Sizes::block;

    static std::uint64_t bit(unsigned number) noexcept { return std::uint64_t{1} << number; }
    static std::uint64_t block_of(std::uint64_t place) noexcept { return place / Sizes::block; }

    /// Returns whether all that was stored in the block has been read. (1)
    bool is_free(std::uint64_t block) const noexcept {
        return ring_->blocks[block].freed.load(acquire) == stored_[block];  // A5: pairs with R5
    }
    /// Returns whether all that was stored in the line has been read.
    bool is_free_at(std::uint64_t place) const noexcept {
        const std::uint64_t block = block_of(place);
        return entered_ && block == block_of(tail_) ? place >= tail_ : is_free(block);
    }
    /// Returns whether the block at the tail may be stored to.
    bool is_entered() noexcept {
        if (entered_) return true;
        const std::uint64_t block = block_of(tail_);
        if (!is_free(block)) {
            was_full_ = true;
            return false;
        }
        entered_ = true;
        return true;
    }
    /// Returns how many of `left` bytes there is room for from `first` on, which is at the tail.
    std::uint64_t room_from(const Piece& first, std::uint64_t left) const noexcept {
        std::uint64_t bytes = first.bytes;
        Piece piece = first;
        for (std::uint64_t n = 1; n < Sizes::claimed_blocks && bytes < left; ++n) {
            piece = next_piece(piece, left - bytes);
            const std::uint64_t block = block_of(piece.at);
            if (block == block_of(first.at) || !is_free(block)) break;
            bytes += piece.bytes;
        }
        return bytes;
    }
    void advance(const Piece& piece) noexcept {
        stored_[block_of(piece.at)] += whole_lines(piece.bytes);
        go_to(Ring::behind(piece, extent_));
    }
    std::uint64_t behind_block(std::uint64_t place) const noexcept {
        return Ring::behind(Ring::piece(place, Sizes::block), extent_);
    }
    void skip_block() noexcept { go_to(behind_block(tail_)); }
    void go_to(std::uint64_t place) noexcept {
        tail_ = place;
        if (place == 0) {
            ++rounds_;
            walked_ += extent_;
        }
        if (place % Sizes::block != 0) return;
        entered_ = false;
        platform::prefetch(&ring_->blocks[block_of(place)]);  // the consumer wrote it
    }
    /// Call this only between messages: the consumer of a streamed message uses that message's
    /// extent.
    void extend(std::uint64_t bytes) noexcept {
        last_ = bytes;
        ahead_ = 0;
        while (needed_ != most_ && is_too_short_for(bytes)) {
            needed_ = std::min(2 * needed_, most_);
            rounds_ = 0;
            was_full_ = false;
        }
        extent_ = std::max(extent_, needed_);
    }
    /// Likewise, call this only between messages. It acts if the tail is at the beginning.
    void begin_walk() noexcept {
        if (tail_ != 0) return;
        const bool whole = platform::copy_row().walks_whole && walked_ >= worth_the_pages;
        extent_ = whole ? most_ : needed_;
    }
    bool is_too_short_for(std::uint64_t bytes) const noexcept {
        return bytes > needed_ / 2 || (was_full_ && rounds_ != 0) ||
            (bytes > needed_ / messages_in_a_round && rounds_ >= rounds_before_more) ||
            (bytes >= Sizes::block / 2 && rounds_ >= rounds_before_more_in_any_case);
    }

    void copy(const Piece& piece, const std::byte* from) noexcept {
        const Copy way = platform::copy_row().store(distance_.now());
        platform::copy(platform::suited(way, piece.bytes), at(piece.at), from, piece.bytes);
    }
    void store_with_sample(const Piece& piece, const std::byte* from) noexcept {
        constexpr std::size_t sample = std::min(DistanceEstimate::sample_bytes, Sizes::block / 2);
        const std::uint64_t start = platform::ticks_after_stores();
        platform::copy(Copy::by_vectors, at(piece.at), from, sample);
        distance_.note(platform::ticks_after_stores() - start);
        copy({piece.at + sample, piece.bytes - sample}, from + sample);
    }

    Ring* ring_;
    bool ready_ = false;
    const std::uint64_t most_;
    std::uint64_t needed_;  ///< extent that the messages so far need
    std::uint64_t extent_;  ///< extent in use, at least needed_
    std::uint64_t tail_ = 0;
    std::uint64_t last_ = 0;   ///< length of the last message
    std::uint64_t ahead_ = 0;  ///< bytes of lines taken ahead, at the tail or in the next block
    bool entered_ = false;     ///< the block at the tail has been entered
    bool was_full_ = false;    ///< full since the extent has grown
    std::uint64_t rounds_ = 0;
    std::uint64_t free_ = Sizes::manifests == 64 ? ~std::uint64_t{0} : bit(Sizes::manifests) - 1;
    std::uint64_t streaming_ = 0;  ///< a bit for each manifest by which something is streamed
    std::array<std::uint64_t, Sizes::blocks> stored_{};  ///< bytes stored, ever
    std::uint64_t walked_ = 0;                           ///< bytes of all walks
    DistanceEstimate distance_;
};

template <class World, class Sizes>
class BasicPayloadConsumer {
public:
    using Ring = BasicPayloadRing<World, Sizes>;

    BasicPayloadConsumer() = default;
    explicit BasicPayloadConsumer(Ring& ring) noexcept : ring_(&ring) {}
    explicit operator bool() const noexcept { return ring_ != nullptr; }

    /// Says that the producer may store.
    void be_ready() const noexcept {
        ring_->ready.store(1, release);  // R1
    }

    const std::byte* at(std::uint64_t place) const noexcept { return ring_->data + place; }
    /// Prefetches the first lines of a piece, which come while its reader does something else.
    void ask_for(const Piece& piece) const noexcept {
        const std::uint64_t bytes = std::min(piece.bytes, most_asked_for);
        for (std::uint64_t line = 0; line < bytes; line += cache_line)
            platform::prefetch(at(piece.at + line));
    }
    /// Frees a piece that has been read, or is not wanted.
    void free(const Piece& piece) const noexcept {
        auto& freed = ring_->blocks[piece.at / Sizes::block].freed;
        if (Ring::is_block(piece))  // no other message has anything in this block
            freed.store(freed.load(relaxed) + piece.bytes, release);  // R5
        else
            freed.fetch_add(whole_lines(piece.bytes), release);  // R5
    }

    // --- messages of several pieces ---

    std::uint64_t stored(unsigned number) const noexcept {
        return ring_->manifests[number].stored.load(acquire);  // A4
    }
    /// Closes the message: nothing more will be claimed. Returns how much was claimed.
    std::uint64_t close(unsigned number) const noexcept {
        // A3
        return ring_->manifests[number].claimed.fetch_or(Ring::closed, acq_rel) & ~Ring::closed;
    }
    Piece first_piece(unsigned number, std::uint64_t bytes) const noexcept {
        return Ring::piece(ring_->manifests[number].start, bytes);
    }
    /// Returns the piece behind `piece`, if `left` bytes follow it.
    Piece next_piece(unsigned number, const Piece& piece, std::uint64_t left) const noexcept {
        return Ring::piece(Ring::behind(piece, ring_->manifests[number].extent), left);
    }
    /// Reads a dense piece of a message of so many bytes.
    void load(const Piece& piece, std::byte* to, std::uint64_t length) const noexcept {
        const platform::CopyRow& row = platform::copy_row();
        const Copy way = length < least_long ? row.load : row.load_long;
        platform::copy(platform::suited(way, piece.bytes), to, at(piece.at), piece.bytes);
    }
    /// Says that the consumer does not look at the message any more.
    void leave(unsigned number) const noexcept {
        ring_->left.fetch_or(std::uint64_t{1} << number, release);  // R2
    }

private:
    /// Bytes that a core can wait for at once.
    static constexpr std::uint64_t most_asked_for = 16 * cache_line;
    static constexpr std::uint64_t least_long = std::uint64_t{8} << 20;

    Ring* ring_ = nullptr;
};

using PayloadRing = BasicPayloadRing<sync::Native, PayloadSizes>;
using PayloadProducer = BasicPayloadProducer<sync::Native, PayloadSizes>;
using PayloadConsumer = BasicPayloadConsumer<sync::Native, PayloadSizes>;

}  // namespace heddle::node

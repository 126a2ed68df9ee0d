// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Finds queues by their keys in constant time: a table of first entries, each of which leads to
/// its queue.
///
/// Linear hashing (Litwin, 1980): the table grows by splitting one bucket at a time and shrinks by
/// merging one. So no operation pays for all of it. A bucket is a cache line: six first entries and
/// seven bits of the hash of each. So entries of other keys are hardly ever looked at.
///
/// Form           a queue in the table is its first entry. The entry has none before it, so that
///                its `before` names the last entry. The last entry's `next` is the next queue of a
///                full bucket.
/// Errors         none: a full bucket chains its queues. If there is no memory, buckets become
///                longer.
/// Memory         follows the queues. A table that could hold more than eight times as many for
///                long is made smaller. Each queue that is taken out then removes a few buckets.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "match/key.hpp"
#include "match/pages.hpp"
#include "match/queue.hpp"

namespace heddle::match {

template <class Lane>
class Table {
public:
    using Entry = typename Lane::Entry;

    /// Makes a table that never has more than `most` buckets.
    explicit Table(const KeyHash& hash, std::uint32_t most = 1U << 31) noexcept
        : hash_(hash), most_(most) {}

    bool empty() const noexcept { return size_ == 0; }
    std::size_t memory() const noexcept { return buckets_.memory(); }
    std::uint32_t most() const noexcept { return most_; }

    /// Puts in a queue that is not empty and whose key is not in the table.
    void add(std::uint32_t hash, const Queue<Lane>& queue) noexcept {
        if (size_ >= full_) [[unlikely]]
            grow();
        ++size_;
        Lane::before(*queue.first) = queue.last;
        put(hash, *queue.first);
    }

    /// Takes out the queue of this key; an empty one if the table has none. Adds the number of
    /// compared first entries to `compared`.
    Queue<Lane> take(std::uint32_t hash, Key key, std::uint64_t& compared) noexcept {
        looked_for_ = hash;
        looked_at_ = &bucket_of(hash);
        Bucket& bucket = *looked_at_;
        for (std::uint64_t hits = bucket.with_print(print_of(hash)); hits != 0; hits &= hits - 1) {
            const int i = std::countr_zero(hits) / 8;
            Entry* first = bucket.first[i];
            ++compared;
            if (!Lane::has_key(*first, key)) [[unlikely]]
                continue;
            bucket.prints ^= std::uint64_t{print_of(hash)} << 8 * i;
            count_taken();
            return {first, Lane::before(*first)};
        }
        if (bucket.chained == nullptr) [[likely]]
            return {};
        std::uint64_t more = 0;  // a local, since `compared` had better stay in a register
        const Queue<Lane> taken = take_chained(bucket, key, more);
        compared += more;
        return taken;
    }

    /// Takes an entry out of its queue, which is in the table.
    void remove(std::uint32_t hash, Entry& entry) noexcept {
        std::uint64_t compared = 0;
        Queue<Lane> queue = take(hash, Lane::key(entry), compared);
        queue.remove(entry);
        if (queue.first != nullptr) add(hash, queue);
    }

    /// Returns the first entry of this key's queue, which stays here, or nullptr if there is none.
    Entry* find(std::uint32_t hash, Key key, std::uint64_t& compared) noexcept {
        Entry* found = nullptr;
        each_in(bucket_of(hash), [&](Entry& first, std::uint32_t print) {
            if (found != nullptr || (print != 0 && print != print_of(hash))) return;
            ++compared;
            if (Lane::has_key(first, key)) found = &first;
        });
        return found;
    }

    /// Calls visit(queue) for each queue.
    template <class Visit>
    void each(Visit&& visit) const {
        for (std::uint32_t i = 0; i < count_; ++i)
            each_in(buckets_[i], [&](Entry& first, std::uint32_t) {
                visit(Queue<Lane>{&first, Lane::before(first)});
            });
    }

private:
    static constexpr int slots = 6;
    static constexpr std::uint64_t each_slot = 0x0000'0101'0101'0101U;
    static constexpr std::uint64_t in_use = each_slot * 0x80;

    struct Bucket {
        std::uint64_t prints;  ///< a byte for each slot: 0x80 and seven bits of the hash; 0: free
        Entry* first[slots];
        Entry* chained;  ///< queues without a slot

        /// Returns a bit in the byte of each slot with this print, perhaps also of other slots in
        /// use.
        std::uint64_t with_print(std::uint32_t print) const noexcept {
            const std::uint64_t differing = prints ^ each_slot * print;
            return (differing - each_slot) & ~differing & in_use;
        }
    };

    static std::uint32_t print_of(std::uint32_t hash) noexcept { return 0x80 | hash >> 25; }
    Bucket& bucket_of(std::uint32_t hash) noexcept {
        // Without a branch, since no processor can predict which case it is.
        return buckets_[hash & mask_ >> ((hash & mask_) >= count_)];
    }

    void put(std::uint32_t hash, Entry& first) noexcept {
        Bucket& bucket = hash == looked_for_ ? *looked_at_ : bucket_of(hash);
        if (const std::uint64_t free = ~bucket.prints & in_use) [[likely]] {
            const int i = std::countr_zero(free) / 8;
            bucket.prints |= std::uint64_t{print_of(hash)} << 8 * i;
            bucket.first[i] = &first;
            return;
        }
        Lane::next(*Lane::before(first)) = bucket.chained;
        bucket.chained = &first;
    }

    [[gnu::cold, gnu::noinline]] Queue<Lane> take_chained(Bucket& bucket, Key key,
                                                          std::uint64_t& compared) noexcept {
        for (Entry** link = &bucket.chained; Entry* first = *link;) {
            Entry* const last = Lane::before(*first);
            ++compared;
            if (Lane::has_key(*first, key)) {
                *link = Lane::next(*last);
                Lane::next(*last) = nullptr;
                count_taken();
                return {first, last};
            }
            link = &Lane::next(*last);
        }
        return {};
    }

    /// Calls visit(entry, print) for each first entry, chained ones without a print. The call may
    /// put the entry elsewhere.
    template <class Visit>
    static void each_in(const Bucket& bucket, Visit&& visit) {
        for (int i = 0; i < slots; ++i)
            if (const auto print = static_cast<std::uint8_t>(bucket.prints >> 8 * i))
                visit(*bucket.first[i], print);
        for (Entry* first = bucket.chained; first != nullptr;) {
            Entry* const next = Lane::next(*Lane::before(*first));
            visit(*first, 0);
            first = next;
        }
    }

    /// Empties the bucket, and puts its queues where they belong.
    void spread(Bucket& bucket) noexcept {
        const Bucket before = bucket;
        bucket = Bucket{};
        each_in(before, [this](Entry& first, std::uint32_t) {
            Lane::next(*Lane::before(first)) = nullptr;
            put(hash_(Lane::key(first)), first);
        });
    }

    /// Splits one bucket. If there is no memory for another one, tries again some time later.
    [[gnu::noinline]] void grow() noexcept {
        if (count_ == most_ || !buckets_.grow(count_)) {
            full_ = size_ + 64;
            return;
        }
        const std::uint32_t halved = count_ & mask_ >> 1;
        if (++count_ > mask_) mask_ = 2 * mask_ + 1;
        looked_at_ = &bucket_of(looked_for_);
        spread(buckets_[halved]);
        set_limits();
    }
    /// Merges the last bucket into the one that it was split from.
    void shrink() noexcept {
        if (--count_ <= mask_ >> 1) mask_ >>= 1;
        looked_at_ = &bucket_of(looked_for_);
        spread(buckets_[count_]);
        buckets_.shrink(count_);
        set_limits();
    }
    void set_limits() noexcept {
        full_ = std::size_t{count_} * 5 / 2 + 4;  // with that many in six slots chains are rare
        few_ = full_ / 8;
    }

    void count_taken() noexcept {
        --size_;
        if (size_ >= few_) [[likely]]
            idle_ = 0;
        else
            shrink_if_idle();
    }
    /// Shrinks a table that had few queues for long. A program that refills it each time calls this
    /// fewer than few_ times.
    [[gnu::noinline]] void shrink_if_idle() noexcept {
        if (++idle_ <= 2 * few_) return;
        for (int i = 0; i < 4 && size_ < few_; ++i) shrink();
    }

    Pages<Bucket> buckets_;
    std::size_t size_ = 0;      ///< queues
    std::size_t full_ = slots;  ///< with as many, another bucket is wanted
    std::size_t few_ = 0;       ///< with fewer, the table is larger than needed
    std::size_t idle_ = 0;      ///< queues taken since there were so few
    std::uint32_t count_ = 1;   ///< buckets in use
    std::uint32_t mask_ = 1;    ///< least 2^k - 1 that is not less than count_
    Bucket* looked_at_ =
        &buckets_[0];  ///< the bucket of looked_for_: a thread that finds no queue often adds one
    std::uint32_t looked_for_ = 0;
    const KeyHash& hash_;
    std::uint32_t most_;
};

}  // namespace heddle::match

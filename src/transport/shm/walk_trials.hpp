// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How far a ring of payload is walked that carries short messages only: as far as they need, or as far as it may be.
///
/// In a short walk the consumer's cache still has the lines that are stored anew; in a long one they have left the
/// caches of both cores. Which of the two costs more is a matter of the processor, so both are tried: the producer
/// and the consumer time some pieces, and whole walks are compared. (Parts of a walk would not do: what a store
/// costs depends on where the walk before has left the line.)
///
/// Trial    walks of the other length, after some bytes walked; the more trials were lost in a row, the more bytes.
/// Counted  pieces that were stored since the second walk of a length.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace heddle::transport::shm {

enum class Walk : std::uint8_t {
    needed,  ///< as far as messages need
    whole,   ///< as far as it may be
};

/// The producer's.
class WalkTrials {
public:
    Walk now() const noexcept { return now_; }
    /// The number of the walk that is going on.
    std::uint64_t number() const noexcept { return number_; }

    /// A line of a piece that was stored in that walk has cost so many ticks on both sides.
    void timed(std::uint64_t walk, std::uint64_t ticks) noexcept {
        if (walk > first_) cost(now_).note(ticks);
    }
    /// A walk of so many bytes is over.
    void walked(std::uint64_t bytes) noexcept {
        ++number_;
        bytes_ += bytes;
        const bool is_known = cost(now_).is_known();
        if (now_ == usual_) {
            if (is_known && bytes_ >= patience_) change_to(other(usual_));
        } else if (is_known || number_ - first_ > most_walks) {
            end_trial(is_known && cost(now_).is_clearly_below(cost(usual_)));
        }
    }

private:
    static constexpr std::uint64_t least_patience = std::uint64_t{1} << 20;
    static constexpr std::uint64_t most_patience = std::uint64_t{1} << 28;
    static constexpr std::uint64_t most_walks = 64;  ///< of a trial

    /// Of a line, on the average.
    class Cost {
    public:
        bool is_known() const noexcept { return count_ >= enough; }
        /// A thread that lost its core counts little.
        void note(std::uint64_t ticks) noexcept {
            if (count_ == most) {
                sum_ /= 2;
                count_ /= 2;
            }
            sum_ += is_known() ? std::min(ticks, 2 * sum_ / count_) : ticks;
            ++count_;
        }
        /// By more than what disturbances make of two that cost the same.
        bool is_clearly_below(const Cost& other) const noexcept {
            return sum_ * other.count_ * 10 < other.sum_ * count_ * 9;
        }

    private:
        static constexpr std::uint64_t enough = 8, most = 64;
        std::uint64_t sum_ = 0, count_ = 0;
    };

    static Walk other(Walk walk) noexcept {
        return walk == Walk::needed ? Walk::whole : Walk::needed;
    }
    Cost& cost(Walk walk) noexcept { return costs_[static_cast<std::size_t>(walk)]; }

    void change_to(Walk walk) noexcept {
        now_ = walk;
        cost(walk) = {};
        first_ = number_;
        bytes_ = 0;
    }
    void end_trial(bool is_won) noexcept {
        patience_ = is_won ? least_patience : std::min(4 * patience_, most_patience);
        if (is_won)
            usual_ = now_;
        else
            change_to(usual_);
        bytes_ = 0;
    }

    Walk now_ = Walk::needed;
    Walk usual_ = Walk::needed;
    std::uint64_t number_ = 0;
    std::uint64_t first_ = 0;  ///< walk of the present length
    std::uint64_t bytes_ = 0;  ///< walked since a trial has begun or ended
    std::uint64_t patience_ = least_patience;
    std::array<Cost, 2> costs_{};
};

}  // namespace heddle::transport::shm

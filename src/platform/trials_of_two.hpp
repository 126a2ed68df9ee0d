// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Which of two ways costs less where only long use of a way tells: what a store costs depends on where the way
/// used before has left the line, and it goes on while the next instructions are timed.
///
/// Stretch  a time of one way. Of some things that are done in it the cost is noted.
/// Trial    stretches of the other way than usual, after much work by the usual one; the more trials were lost in a
///          row, the more. The other way becomes the usual one by two trials in a row that it wins.
/// Counted  what was done since the second stretch of a way.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace heddle::platform {

/// Zeroes are a valid new one, of which the first way is the usual one.
///
/// Thread safety  one thread at a time.
class TrialsOfTwo {
public:
    /// `lost`: as if so many trials in a row had been lost already, so that the first one comes later.
    explicit TrialsOfTwo(unsigned lost) noexcept : lost_(lost) {}
    TrialsOfTwo() = default;

    /// 0 or 1.
    unsigned now() const noexcept { return now_; }
    /// The number of the stretch that is going on.
    std::uint64_t stretch() const noexcept { return stretch_; }

    /// What was done in that stretch has cost so many ticks. (More things are noted of it.)
    void timed(std::uint64_t stretch, std::uint64_t ticks) noexcept {
        if (stretch > first_) costs_[now_].note(ticks);
    }
    /// The stretch is over, in which so many bytes were copied.
    void ended(std::uint64_t bytes) noexcept {
        ++stretch_;
        bytes_ += bytes;
        const bool is_known = costs_[now_].is_known();
        if (now_ == usual_) {
            if (is_known && bytes_ >= patience()) change_to(1 - usual_);
        } else if (is_known || stretch_ - first_ > most_stretches) {
            end_trial(is_known && costs_[now_].is_clearly_below(costs_[usual_]));
        }
    }

private:
    static constexpr std::uint64_t least_patience = std::uint64_t{1} << 20;  ///< bytes
    static constexpr unsigned most_lost = 4;  ///< of which each makes it four times as much
    static constexpr unsigned enough_won = 2;
    static constexpr std::uint64_t most_stretches = 64;  ///< of a trial

    /// On the average.
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

    std::uint64_t patience() const noexcept { return least_patience << 2 * lost_; }
    void change_to(unsigned way) noexcept {
        now_ = way;
        costs_[way] = {};
        first_ = stretch_;
        bytes_ = 0;
    }
    void end_trial(bool is_won) noexcept {
        won_ = is_won ? won_ + 1 : 0;
        lost_ = is_won ? 0 : std::min(lost_ + 1, most_lost);
        if (won_ < enough_won) return change_to(usual_);
        usual_ = now_;
        won_ = 0;
        bytes_ = 0;
    }

    unsigned now_ = 0, usual_ = 0;
    unsigned won_ = 0, lost_ = 0;  ///< trials in a row
    std::uint64_t stretch_ = 0;
    std::uint64_t first_ = 0;  ///< stretch of the way that is used now
    std::uint64_t bytes_ = 0;  ///< since the way has changed
    std::array<Cost, 2> costs_{};
};

}  // namespace heddle::platform

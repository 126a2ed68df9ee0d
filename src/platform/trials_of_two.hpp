// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Finds the cheaper of two methods if only long use of a method shows its cost. The cost of a
/// store depends on where the method used before has left the line. The store also continues while
/// the next instructions are timed.
///
/// Stretch  a time in which one method is used. The cost of some of the work in it is noted.
/// Trial    stretches of the other method, after much work by the usual one. The more trials in a
///          row were lost, the more work comes first. The other method becomes the usual one if it
///          wins two trials in a row.
/// Counted  work since the second stretch of a method.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace heddle::platform {

/// A choice between method 0 and method 1. Zeroes are a valid new object, whose usual method is 0.
///
/// Thread safety  one thread at a time.
class TrialsOfTwo {
public:
    /// Begins as if `lost` trials in a row had been lost, so that the first trial comes later.
    explicit TrialsOfTwo(unsigned lost) noexcept : lost_(lost) {}
    TrialsOfTwo() = default;

    /// Returns the method in use, 0 or 1.
    unsigned now() const noexcept { return now_; }
    /// Returns the number of the present stretch.
    std::uint64_t stretch() const noexcept { return stretch_; }

    /// Notes the cost of some work in that stretch. It may be called several times for a stretch.
    void timed(std::uint64_t stretch, std::uint64_t ticks) noexcept {
        if (stretch > first_) costs_[now_].note(ticks);
    }
    /// Ends the stretch, in which `bytes` were copied.
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
    static constexpr unsigned most_lost = 4;  ///< each of them multiplies the patience by four
    static constexpr unsigned enough_won = 2;
    static constexpr std::uint64_t most_stretches = 64;  ///< the limit of a trial

    /// An average cost.
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
        /// Returns true if the difference is larger than that of disturbances.
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
    std::uint64_t first_ = 0;  ///< first stretch of the method in use
    std::uint64_t bytes_ = 0;  ///< since the method changed
    std::array<Cost, 2> costs_{};
};

}  // namespace heddle::platform

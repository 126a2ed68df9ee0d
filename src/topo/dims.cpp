// SPDX-License-Identifier: BSD-3-Clause
#include "topo/dims.hpp"

#include <algorithm>
#include <utility>

namespace heddle::topo {
namespace {

std::vector<std::int32_t> divisors_of(std::int32_t number) {
    std::vector<std::int32_t> small, large;
    for (std::int32_t d = 1; d <= number / d; ++d) {
        if (number % d != 0) continue;
        small.push_back(d);
        if (d != number / d) large.push_back(number / d);
    }
    small.insert(small.end(), large.rbegin(), large.rend());
    return small;
}

/// Returns true if base to the power of `exponent` is at most `limit`.
bool power_fits(std::int64_t base, std::int32_t exponent, std::int64_t limit) noexcept {
    if (base == 1) return limit >= 1;
    for (std::int64_t power = 1; exponent > 0; --exponent) {
        power *= base;
        if (power > limit) return false;
    }
    return true;
}

/// Searches depth-first over non-increasing lists of divisors. It visits only lists with a smaller
/// difference than the best so far. These are few, since all factors lie close to the root.
class Search {
public:
    Search(std::int32_t number, std::int32_t parts) : divisors_(divisors_of(number)) {
        for (const std::int32_t largest : divisors_) {
            list_ = {largest};
            if (!power_fits(floor(), parts - 1, number / largest)) break;
            if (!power_fits(largest, parts, number - 1)) fill(number / largest, parts - 1);
        }
    }
    std::vector<std::int32_t>& best() noexcept { return best_; }

private:
    /// Returns the least smallest factor of a list that is better than the best.
    std::int32_t floor() const noexcept {
        if (best_.empty()) return 1;
        return std::max(1, list_.front() - (best_.front() - best_.back()) + 1);
    }

    /// Adds `left` more factors of `rest`, none above the last.
    void fill(std::int32_t rest, std::int32_t left) {
        if (left == 0) {
            if (rest == 1 && list_.back() >= floor()) best_ = list_;
            return;
        }
        for (const std::int32_t divisor : divisors_) {
            if (divisor > list_.back() || !power_fits(floor(), left, rest)) return;
            if (rest % divisor != 0) continue;
            // Too small to be the largest of those left.
            if (power_fits(divisor, left, rest - 1)) continue;
            list_.push_back(divisor);
            fill(rest / divisor, left - 1);
            list_.pop_back();
        }
    }

    const std::vector<std::int32_t> divisors_;
    std::vector<std::int32_t> list_;
    std::vector<std::int32_t> best_;
};

/// The greatest number of factors other than 1 of a number of 31 bits.
constexpr std::int32_t most_factors = 31;

}  // namespace

std::vector<std::int32_t> balanced_factors(std::int32_t number, std::int32_t parts) {
    std::vector<std::int32_t> factors =
        std::move(Search(number, std::min(parts, most_factors)).best());
    factors.resize(static_cast<std::size_t>(parts), 1);
    return factors;
}

}  // namespace heddle::topo

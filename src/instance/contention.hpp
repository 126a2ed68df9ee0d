// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The contexts and tags for which a lock was busy most often: threads wait for each other about
/// these messages. The method is "space saving" (Metwally et al., 2005). A newcomer takes the
/// place, and the number, of the pair that was seen least. Numbers add up to the total; each is too
/// large by at most the least.
///
/// Thread safety  guarded by the lock that it is about; read at the end, or as a hint.

#include <algorithm>
#include <array>
#include <cstdint>

namespace heddle::instance {

struct Contended {
    std::uint32_t context = 0;
    std::int32_t tag = 0;
    std::uint64_t times = 0;  ///< 0: empty
};

class Contention {
public:
    [[gnu::cold, gnu::noinline]] void note(std::uint32_t context, std::int32_t tag) noexcept {
        for (Contended& one : most_)
            if (one.times != 0 && one.context == context && one.tag == tag)
                return void(++one.times);
        Contended& least = *std::min_element(
            most_.begin(), most_.end(),
            [](const Contended& a, const Contended& b) { return a.times < b.times; });
        least = {context, tag, least.times + 1};
    }
    const std::array<Contended, 2>& most() const noexcept { return most_; }

private:
    std::array<Contended, 2> most_{};
};

}  // namespace heddle::instance

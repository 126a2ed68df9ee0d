// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Computing of a fixed amount: the same steps each time, so that what they take beside communication can be
/// compared with what they take alone. They touch no memory and no library.

#include <algorithm>
#include <cstdint>

#include "common.hpp"

namespace bench {

class Work {
public:
    /// As many steps as take so long here and now.
    explicit Work(double seconds) {
        steps_ = 100'000;
        double least = run();
        for (int k = 0; k < 10; ++k) least = std::min(least, run());
        steps_ = std::max(1L, static_cast<long>(seconds / least * static_cast<double>(steps_)));
    }

    /// Does the work; the seconds that it has taken.
    double run() {
        const double start = now();
        std::uint64_t x = seed_;
        for (long k = 0; k < steps_; ++k) x = x * 6364136223846793005u + 1442695040888963407u;
        seed_ = x;  // each step needs the one before, and somebody might look at the last
        return now() - start;
    }

private:
    long steps_ = 0;
    volatile std::uint64_t seed_ = 1;
};

/// The size of a message in words that a table has.
inline std::string size_name(long bytes) {
    if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return std::to_string(bytes >> 20) + " MiB";
    if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) return std::to_string(bytes >> 10) + " KiB";
    return std::to_string(bytes) + " B";
}

}  // namespace bench

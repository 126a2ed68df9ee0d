// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A fixed amount of computing: the same steps each time, so that their time beside communication
/// can be compared with their time alone. They touch no memory and no library. Options of programs
/// that do so, too.

#include <algorithm>
#include <cstdint>

#include "common.hpp"

namespace bench {

class Work {
public:
    /// Chooses as many steps as take `seconds` here and now.
    explicit Work(double seconds) {
        steps_ = 100'000;
        double least = run();
        for (int k = 0; k < 10; ++k) least = std::min(least, run());
        steps_ = std::max(1L, static_cast<long>(seconds / least * static_cast<double>(steps_)));
    }

    /// Does the work. Returns the seconds that it has taken.
    double run() {
        const double start = now();
        std::uint64_t x = seed_;
        for (long k = 0; k < steps_; ++k) x = x * 6364136223846793005u + 1442695040888963407u;
        seed_ = x;  // each step needs the one before, and the compiler must keep the last
        return now() - start;
    }

private:
    long steps_ = 0;
    volatile std::uint64_t seed_ = 1;
};

/// The options of programs that compute beside messages.
struct Beside {
    std::vector<long> sizes;  ///< of the messages
    std::string level;
    double compute;  ///< seconds of each computation
    int rounds;      ///< of each size
};

/// Reads --sizes, --level, --milliseconds, --seconds and --repetitions. A round computes `times`
/// times.
inline Beside read_beside(Options& options, int times) {
    Beside plan{};
    plan.sizes = options.list("sizes", "10,100,1K,10K,64K,128K,256K,512K,1M,8M");
    plan.level = options.choice("level", "multiple", {"single", "multiple"});
    plan.compute = 1e-3 * options.real("milliseconds", 5);
    const double seconds = options.real("seconds", 0.1);
    const auto repetitions = static_cast<double>(options.integer("repetitions", 5, 1));
    plan.rounds = std::max(5, static_cast<int>(seconds * repetitions / (times * plan.compute)));
    return plan;
}

/// Returns the size of a message in the words of a table.
inline std::string size_name(long bytes) {
    if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return std::to_string(bytes >> 20) + " MiB";
    if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) return std::to_string(bytes >> 10) + " KiB";
    return std::to_string(bytes) + " B";
}

}  // namespace bench

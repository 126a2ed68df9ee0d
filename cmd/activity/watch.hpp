// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Watches the threads of some ranks on this machine, from one moment to another. No rank notices.
///
/// Use            look(), `between_looks` later look_again(), and so on every `between_samples`; at
///                the end rows().

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "hangs/snapshot.hpp"
#include "row.hpp"
#include "samples.hpp"

namespace heddle::activity {

inline constexpr std::chrono::milliseconds between_samples{20};
inline constexpr std::chrono::microseconds between_looks{100};

class Watch {
public:
    using Look = std::function<hangs::Snapshot()>;

    /// `look_at_ranks` returns the present state of the ranks. It is called here, and by rows().
    explicit Watch(Look look_at_ranks);

    /// Returns true if any of the ranks lived when the watch began.
    [[nodiscard]] bool of_living() const;

    void look();
    void look_again();

    /// Returns the rows for the time since the constructor.
    std::vector<Row> rows();

private:
    using Clock = std::chrono::steady_clock;

    template <class What>
    void for_threads(What what) const;
    Traced* traced(pid_t pid);
    void note_traffic();
    Row row_of(const hangs::Rank& rank, const hangs::Thread& thread, const hangs::Thread* before,
               double seconds);
    void add_wait(Row& row, const hangs::Rank& rank, double seconds) const;
    static Row row_without_thread(const hangs::Rank& rank);

    const Look look_at_ranks_;
    const hangs::Snapshot before_;
    const Clock::time_point begin_;
    std::map<std::pair<pid_t, std::uint32_t>, WaitSampler> samplers_;
    std::map<pid_t, std::unique_ptr<Traced>> traced_;
};

}  // namespace heddle::activity

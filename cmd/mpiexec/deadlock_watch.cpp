// SPDX-License-Identifier: BSD-3-Clause
#include "deadlock_watch.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "event_loop.hpp"
#include "say.hpp"

namespace heddle::mpiexec {

DeadlockWatch::Reaction DeadlockWatch::wanted() {
    constexpr const char* variable = "HEDDLE_DEADLOCK";
    const char* text = std::getenv(variable);
    const std::string_view value = text == nullptr ? "" : text;
    if (value.empty() || value == "report") return Reaction::report;
    if (value == "abort") return Reaction::abort;
    if (value == "off") return Reaction::off;
    throw Failure(
        exit_usage,
        fmt::format("{}={}: report, abort and off are possible", variable, printable(value)));
}

DeadlockWatch::DeadlockWatch(const Kept& kept, Reaction reaction)
    : kept_(kept),
      reaction_(reaction),
      due_(reaction == Reaction::off || kept.job.children != Children::ranks
               ? -1
               : now_ms() + usual_ms) {}

std::uint64_t fingerprint_of_waits(const Kept& kept) {
    std::uint64_t all = 1;
    for (std::size_t i = 0; i < kept.ranks.size(); ++i) {
        if (kept.ranks[i].status) continue;
        if (!kept.ranks[i].alive()) return 0;
        std::uint64_t own = 0;
        for (const node::Blocked& entry : kept.memory.page(static_cast<int>(i)).blocked) {
            const std::uint32_t owner = entry.owner.load(std::memory_order_relaxed);
            if (owner == 0) continue;
            const std::uint32_t version = entry.version.load(std::memory_order_relaxed);
            own = own * 31 + (std::uint64_t{owner} << 32 | version);
        }
        if (own == 0) return 0;
        all = all * 1'000'003 + own;
    }
    return all;
}

bool DeadlockWatch::look(long long now) {
    if (due_ < 0 || now < due_) return false;
    const std::uint64_t before = std::exchange(last_, fingerprint_of_waits(kept_));
    if (last_ == 0 || last_ != before) {
        first_.reset();
        pause_ = usual_ms;
        looks_left_ = most_looks;
        due_ = now + (last_ == 0 ? usual_ms : soon_ms);
        return false;
    }
    due_ = now + soon_ms;
    if (first_) return judge();
    first_ = look_at_ranks(kept_);
    return false;
}

bool DeadlockWatch::judge() {
    hangs::Snapshot second = look_at_ranks(kept_);
    const hangs::Verdict verdict = hangs::judge(*first_, second);
    if (!verdict.is_proven_stuck()) {
        due_ = now_ms() + pause_;
        pause_ = std::min(2 * pause_, most_ms);
        first_.reset();
        return false;
    }
    if (!verdict.is_of_all(second) && --looks_left_ > 0) {
        first_ = std::move(second);
        due_ = now_ms() + soon_ms;
        return false;
    }
    due_ = -1;
    for_ended_ = verdict.kind == hangs::Verdict::Kind::ended;
    RankReport(std::move(*first_), std::move(second)).tell();
    return true;
}

}  // namespace heddle::mpiexec

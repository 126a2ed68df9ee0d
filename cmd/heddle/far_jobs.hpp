// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Asks mpiexec about jobs on several hosts, of which it knows all ranks. The question may come
/// from any of the hosts.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "activity/row.hpp"
#include "hangs/jobs.hpp"
#include "hangs/snapshot.hpp"
#include "mpiexec/connecting.hpp"
#include "mpiexec/event_loop.hpp"
#include "mpiexec/framed.hpp"

namespace heddle::cmd {

/// The answer of mpiexec: two looks, or rows.
struct FarAnswer {
    hangs::Snapshot before, now;
    std::vector<activity::Row> rows;
    std::int64_t launcher = 0;  ///< the mpiexec that the user has called
    std::string host;           ///< the host of that mpiexec
};

/// A question to mpiexec. Its answer may be awaited later.
class FarQuestion {
public:
    /// Connects, and asks what threads do in `watch_ms` milliseconds; 0 asks where the ranks are.
    /// Waits for a second at most.
    FarQuestion(const std::string& reports_to, std::uint32_t watch_ms);

    /// Returns nothing if there is no answer within the time.
    std::optional<FarAnswer> answer(std::chrono::milliseconds within);

private:
    void connected(mpiexec::UniqueFd socket);
    void hear(char kind, std::string_view bytes);
    void take_rank(hangs::Snapshot& snapshot, std::string_view bytes);
    template <class Condition>
    void wait(std::chrono::milliseconds within, Condition until);

    const std::optional<mpiexec::ReportAddress> address_;
    const std::uint32_t watch_ms_;
    mpiexec::EventLoop loop_;
    std::unique_ptr<mpiexec::Connecting> connecting_;
    std::unique_ptr<mpiexec::Framed> link_;
    FarAnswer answer_;
    bool complete_ = false;
};

/// Returns how many hosts the ranks run on.
std::size_t number_of_hosts(const std::vector<std::string>& of_ranks);

/// Returns a text such as "4 ranks on 2 hosts, mpiexec 123 on node1".
std::string title_of(const FarAnswer& answer, std::size_t ranks, std::size_t hosts);

/// Warns that only the part of the job on this machine is shown.
void warn_of_silence(const char* command);

}  // namespace heddle::cmd

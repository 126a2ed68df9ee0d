// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Connects to mpiexec, whose host has several addresses. All are tried at once, and the first that
/// answers is used.

#include <functional>
#include <vector>

#include "event_loop.hpp"
#include "report_place.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

class Connecting {
public:
    Connecting(EventLoop& loop, const ReportAddress& address,
               std::function<void(UniqueFd)> on_connected);
    ~Connecting();
    Connecting(const Connecting&) = delete;
    Connecting& operator=(const Connecting&) = delete;

    /// Returns true if no address can answer any more.
    [[nodiscard]] bool is_over() const;

private:
    void answered(std::size_t index);
    void stop();

    EventLoop& loop_;
    const std::function<void(UniqueFd)> on_connected_;
    std::vector<UniqueFd> trying_;
};

}  // namespace heddle::mpiexec

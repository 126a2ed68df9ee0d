// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Why nothing goes to an address of the internet: libfabric only says "not now", whether the connection is being made or
/// refused again and again. The kernel says more when it is asked for a connection of our own.

#include <chrono>
#include <string>

namespace heddle::transport::ofi {

class Probe {
public:
    explicit Probe(const std::string& address) noexcept;
    ~Probe();
    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;

    /// Without waiting: empty if nothing is known against the address yet, else why nothing goes there. Somebody who
    /// listens and is slow to answer is asked again later.
    std::string finding() noexcept;

private:
    using Clock = std::chrono::steady_clock;

    void begin() noexcept;
    void end() noexcept;
    /// Of the connection in the making; 0: none so far, or it has been made.
    int error() noexcept;

    const std::string address_;
    int socket_ = -1;
    int refused_ = 0;  ///< errno of a connection that failed at once
    bool listening_ = false;
    Clock::time_point begun_;
};

}  // namespace heddle::transport::ofi

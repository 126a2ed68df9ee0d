// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Asks the kernel about an address of the internet to which nothing goes, or from which nothing
/// comes. The kernel says more than libfabric when it has a connection of our own to that address.
/// The connection is kept and asked for signs of life each second. A host answers them also for a
/// process that is stopped.

#include <chrono>
#include <string>

namespace heddle::transport {

/// Returns how long ago the host at the other end of a connection over TCP has acknowledged
/// something. Returns the longest time if the kernel does not say.
std::chrono::milliseconds acknowledgement_age(int socket) noexcept;

class Probe {
public:
    /// `address`: as connect() wants it. `greeting`: first words of each connection; at most some
    /// hundred bytes.
    explicit Probe(const std::string& address, std::string greeting = {}) noexcept;
    ~Probe();
    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;

    /// Returns why nothing goes to the address, or an empty string while that is not known. Does
    /// not wait.
    std::string finding() noexcept;
    /// Returns whether the host of the address has acknowledged something within that time, as far
    /// as finding() has seen.
    bool is_acknowledged(std::chrono::milliseconds within) noexcept;

private:
    using Clock = std::chrono::steady_clock;

    void begin() noexcept;
    void end() noexcept;
    void look() noexcept;
    void look_at_acknowledgement() noexcept;

    const std::string address_;
    const std::string greeting_;
    int socket_ = -1;
    int error_ = 0;  ///< errno of a connection that failed
    bool connected_ = false;
    Clock::time_point begun_;
    Clock::time_point acknowledged_{};  ///< the latest sign of life
};

}  // namespace heddle::transport

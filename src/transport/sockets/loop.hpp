// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The set of descriptors that a wire looks at (epoll), and its clock.
///
/// Looks          cost a system call. While nothing comes they become rarer. look() leaves one out
///                if the last one is less than 1/32 of the silence ago. It never leaves out more
///                than 15 one after the other.
/// Ticks          while a caller wants them, each 250 ms a timer makes the set readable. A thread
///                that sleeps on the set wakes for them.
/// Sources        a source may be destroyed in its own ready(), and outside of look(); not in
///                another's.

#include <chrono>
#include <cstdint>

#include "transport/sockets/descriptor.hpp"

namespace heddle::transport::sockets {

/// An object with a descriptor in the set.
class Source {
public:
    /// Called when the source is ready. `what`: bits of epoll.
    virtual void ready(std::uint32_t what) noexcept = 0;

protected:
    ~Source() = default;
};

class Loop final : private Source {
public:
    static constexpr std::chrono::milliseconds tick{250};

    /// Throws std::runtime_error if the kernel refuses.
    Loop();

    /// Returns false if refused, by errno.
    bool add(int descriptor, Source& source, std::uint32_t what) noexcept;
    void change(int descriptor, Source& source, std::uint32_t what) noexcept;
    void remove(int descriptor) noexcept;

    /// Calls ready() of those sources that are. May leave it out. Returns whether there was one.
    bool look() noexcept;
    bool look_surely() noexcept;

    /// Asks for ticks, or no longer. Counted: as many times off as on.
    void want_ticks(bool on) noexcept;
    /// Returns whether there was a tick since the last call.
    bool ticked() noexcept;

    /// Returns a descriptor that is readable when a source is ready.
    int descriptor() const noexcept { return set_.number(); }

private:
    static constexpr unsigned most_left_out = 15;
    static constexpr unsigned part_of_silence = 32;

    bool is_due(std::uint64_t now) noexcept;
    void ready(std::uint32_t what) noexcept override;

    Descriptor set_;
    Descriptor timer_;
    std::uint64_t looked_ = 0;    ///< tick of the processor's counter
    std::uint64_t happened_ = 0;  ///< likewise, of the latest look that found something
    unsigned left_out_ = 0;
    unsigned want_ticks_ = 0;
    bool ticked_ = false;
};

}  // namespace heddle::transport::sockets

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Lets the launcher know that a thread sleeps, and what it waits for (node/board.hpp).
///
/// Cost           short sleeps write nothing. A thread gets up once when it has slept for `notice_after`, writes
///                what it waits for, and sleeps on. So long a sleep is one that somebody may ask about.

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "core/thread.hpp"
#include "node/board.hpp"

namespace heddle::progress {

inline constexpr std::chrono::milliseconds notice_after{100};

/// What a thread that begins to sleep has to tell of it. Its entry of this process's page is free again when the object
/// goes.
class Notice {
public:
    explicit Notice(core::Thread& thread) noexcept
        : thread_(thread), since_(sync::Native::now()), is_due_(thread.page == nullptr) {}
    ~Notice() {
        if (is_due_) [[unlikely]]
            take_back();
    }
    Notice(const Notice&) = delete;
    Notice& operator=(const Notice&) = delete;

    /// The most that a sleep which was to take at most `limit` may take at `now`.
    std::chrono::nanoseconds limit(std::chrono::nanoseconds now,
                                   std::chrono::nanoseconds limit = sync::no_limit) const noexcept {
        if (is_due_) return limit;
        const std::chrono::nanoseconds left = since_ + notice_after - now;
        return std::min(limit,
                        std::max<std::chrono::nanoseconds>(left, std::chrono::microseconds{1}));
    }
    template <class Condition>
    void write_if_due(Condition& condition, std::chrono::nanoseconds now) noexcept {
        if (is_due_ || now < since_ + notice_after) [[likely]]
            return;
        write(condition);
    }

private:
    template <class Condition>
    [[gnu::cold, gnu::noinline]] void write(Condition& condition) noexcept {
        is_due_ = true;
        if (!claim()) return;
        node::WaitsFor what{};
        condition.tell(thread_, what);
        publish(what);
    }
    bool claim() noexcept;
    void publish(node::WaitsFor& what) noexcept;
    void take_back() noexcept;

    core::Thread& thread_;
    const std::chrono::nanoseconds since_;
    bool is_due_;
    bool counted_ = false;  ///< among those that have no entry
    node::Blocked* entry_ = nullptr;
};

/// What a thread of the program that is about to enter the kernel for a while does there: told at once, since it cannot
/// get up to tell of it. Costs tens of nanoseconds.
class InKernel {
public:
    InKernel(core::Thread& thread, std::chrono::nanoseconds since,
             const node::AwaitedEvent& event) noexcept;
    ~InKernel();
    InKernel(const InKernel&) = delete;
    InKernel& operator=(const InKernel&) = delete;

private:
    node::Blocked* entry_ = nullptr;
};

}  // namespace heddle::progress

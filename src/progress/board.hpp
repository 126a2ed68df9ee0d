// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Lets the launcher know that a thread sleeps, and what it waits for (node/board.hpp).
///
/// Cost           short sleeps write nothing. A thread gets up once when it has slept for `notice_after`, writes
///                what it waits for, and sleeps on. So long a sleep is one that somebody may ask about. Then the leader
///                gets up once more after messages that nobody awaits have come (p2p/unexpected_notice.hpp).

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "core/thread.hpp"
#include "node/board.hpp"

namespace heddle::progress {

inline constexpr std::chrono::milliseconds notice_after{100};

/// What a thread that begins to sleep has to tell of it. Its entry of this process's page is free again when the object
/// goes.
class Notice {
public:
    explicit Notice(core::Thread& thread) noexcept
        : thread_(thread),
          since_(sync::Native::now()),
          due_(thread.page == nullptr ? never : since_ + notice_after) {}
    ~Notice() {
        if (is_written_) [[unlikely]]
            take_back();
    }
    Notice(const Notice&) = delete;
    Notice& operator=(const Notice&) = delete;

    /// The most that a sleep which was to take at most `limit` may take at `now`.
    std::chrono::nanoseconds limit(std::chrono::nanoseconds now,
                                   std::chrono::nanoseconds limit = sync::no_limit) const noexcept {
        if (due_ == never) return limit;
        return std::min(limit, std::max<std::chrono::nanoseconds>(due_ - now, shortest_limit));
    }
    template <class Engine, class Condition>
    void write_if_due(Engine& engine, Condition& condition, std::chrono::nanoseconds now) noexcept {
        if (now >= due_) [[unlikely]]
            write(engine, condition);
    }
    /// The leader has to write again after messages have come, but not for each of them.
    template <class Engine>
    void look_for_news(Engine& engine, std::chrono::nanoseconds now) noexcept {
        if (is_written_ && due_ == never && engine.unexpected_notice().is_stale()) [[unlikely]]
            due_ = now + notice_after;
    }

private:
    static constexpr std::chrono::nanoseconds never = std::chrono::nanoseconds::max();
    static constexpr std::chrono::microseconds shortest_limit{1};

    template <class Engine, class Condition>
    [[gnu::cold, gnu::noinline]] void write(Engine& engine, Condition& condition) noexcept {
        due_ = never;
        if (!std::exchange(is_written_, true) && claim()) {
            node::WaitsFor what{};
            condition.tell(thread_, what);
            publish(what);
        }
        engine.unexpected_notice().write(thread_);
    }
    bool claim() noexcept;
    void publish(node::WaitsFor& what) noexcept;
    void take_back() noexcept;

    core::Thread& thread_;
    const std::chrono::nanoseconds since_;
    std::chrono::nanoseconds due_;  ///< when there is something to be written
    bool is_written_ = false;
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

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Tells the launcher that a thread sleeps, and what it waits for (node/board.hpp).
///
/// Cost           short sleeps write nothing. A thread that has slept for `notice_after` wakes
///                once, writes what it waits for, and sleeps on. A user may ask about sleeps as
///                long as that. The leader writes again after messages that no receive awaits
///                (p2p/report/unexpected_notice.hpp).

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "core/thread.hpp"
#include "node/board.hpp"

namespace heddle::progress {

inline constexpr std::chrono::milliseconds notice_after{100};

/// The report of a thread that begins to sleep. The destructor frees its entry of this process's
/// page.
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

    /// Returns the longest time that the sleep may take at `now`. The caller meant it to take at
    /// most `limit`.
    std::chrono::nanoseconds limit(std::chrono::nanoseconds now,
                                   std::chrono::nanoseconds limit = sync::no_limit) const noexcept {
        if (due_ == never) return limit;
        return std::min(limit, std::max<std::chrono::nanoseconds>(due_ - now, shortest_limit));
    }
    template <class Engine, class Condition>
    void write_if_due(Engine& engine, Condition& condition, std::chrono::nanoseconds now) noexcept {
        if (now >= due_) [[unlikely]]
            write(engine, condition, now);
    }
    /// Has the leader, which messages have woken, write again. It does so now, or if that is not
    /// cheap, a while after the last time. It does not wake for that alone if it can help it: a
    /// thread that has slept on is a proof (cmd/hangs/verdict.hpp).
    template <class Engine>
    void look_for_news(Engine& engine, std::chrono::nanoseconds now) noexcept {
        if (is_written_ && due_ == never && engine.unexpected_notice().is_stale()) [[unlikely]]
            due_ = engine.unexpected_notice().is_cheap() ? now
                                                         : std::max(now, written_ + notice_after);
    }

private:
    static constexpr std::chrono::nanoseconds never = std::chrono::nanoseconds::max();
    static constexpr std::chrono::microseconds shortest_limit{1};

    template <class Engine, class Condition>
    [[gnu::cold, gnu::noinline]] void write(Engine& engine, Condition& condition,
                                            std::chrono::nanoseconds now) noexcept {
        due_ = never;
        written_ = now;
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
    std::chrono::nanoseconds due_;         ///< when something has to be written
    std::chrono::nanoseconds written_{0};  ///< last time
    bool is_written_ = false;
    bool counted_ = false;  ///< among those that have no entry
    node::Blocked* entry_ = nullptr;
};

/// The report of a thread of the program that is about to enter the kernel for a while. It is
/// written at once, since the thread cannot wake to write it. Costs tens of nanoseconds.
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

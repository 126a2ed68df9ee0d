// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How a thread of these locks waits: it spins, and if threads outnumber cores it offers its core.
///
/// Each wait learns anew whether they do: after some pauses the core is offered once. The time
/// until it comes back shows whether another thread took it. If so, it is offered at every look
/// from then on.

#include <chrono>

namespace heddle::sync::locks {

/// One wait, from its first pause to its end.
template <class World>
class Waiting {
public:
    void pause() noexcept {
        if (--left_ > 0) [[likely]]
            World::pause();
        else
            offer();
    }

private:
    [[gnu::noinline]] void offer() noexcept {
        const std::chrono::nanoseconds before = World::now();
        World::yield();
        const bool taken = World::now() - before > nobody_takes_it;
        left_ = taken ? 1 : World::pauses_before_offer;
    }

    static constexpr std::chrono::nanoseconds nobody_takes_it{1'000};

    int left_ = World::pauses_before_offer;
};

/// A limit that began with this object.
template <class World>
class Deadline {
public:
    explicit Deadline(std::chrono::nanoseconds limit) noexcept
        : start_(World::now()), limit_(limit) {}
    std::chrono::nanoseconds left() const noexcept { return limit_ - (World::now() - start_); }
    bool passed() const noexcept { return left().count() <= 0; }

private:
    std::chrono::nanoseconds start_, limit_;
};

}  // namespace heddle::sync::locks

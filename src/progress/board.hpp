// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Lets the launcher know that a thread sleeps, and in which call (launch/board.hpp).

#include <cstdint>

#include "core/thread.hpp"
#include "launch/board.hpp"

namespace heddle::progress {

/// An entry of this process's page, for as long as the object lives. Without a free entry: nothing.
class Notice {
public:
    template <class Condition>
    Notice(core::Thread& thread, Condition& condition) : entry_(claim(thread)) {
        if (entry_ == nullptr) return;
        char text[sizeof(entry_->text)];
        condition.describe(text, sizeof text);
        write(thread.call, text);
    }
    ~Notice();
    Notice(const Notice&) = delete;
    Notice& operator=(const Notice&) = delete;

private:
    static launch::Blocked* claim(core::Thread& thread) noexcept;
    void write(const char* call, const char* arguments) noexcept;

    launch::Blocked* entry_;
};

}  // namespace heddle::progress

// SPDX-License-Identifier: BSD-3-Clause
#include "platform/printing.hpp"

#include <atomic>
#include <cstdio>
#include <stdio_ext.h>

namespace heddle::platform {
namespace {

std::atomic<bool> line_by_line{false};

}  // namespace

void print_line_by_line() noexcept {
    // A program that asked for no buffer has what it wants. glibc allows the change at any time, although
    // C does not, and keeps what the buffer holds.
    if (__fbufsize(stdout) != 1) std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::fflush(stdout);
    line_by_line.store(true, std::memory_order_relaxed);  // guards nothing: a late look is harmless
}

void flush_unfinished_line() noexcept {
    if (!line_by_line.load(std::memory_order_relaxed)) return;
    // Looked at without the lock: a piece that another thread prints meanwhile is that thread's to flush.
    if (__fpending(stdout) == 0 || ftrylockfile(stdout) != 0) return;
    fflush_unlocked(stdout);
    funlockfile(stdout);
}

}  // namespace heddle::platform

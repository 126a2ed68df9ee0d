// SPDX-License-Identifier: BSD-3-Clause
#include "core/thread.hpp"

#include <algorithm>

#include "core/causality.hpp"
#include "sync/locks/sections.hpp"

namespace heddle::core {

using sync::locks::InSection;
using sync::locks::Section;

namespace {

constexpr std::size_t most_while_watched = 1024;

}  // namespace

void RequestPool::refill(Arena<Request>& arena) noexcept {
    const InSection section(visitor_, Section::request_pool);
    free_ = arena.take(batch_);
    for (Request* request = free_; request != nullptr; request = request->next) ++count_;
    if (batch_ != 1) batch_ = std::min(2 * batch_, most_batch);
}

void RequestPool::spill(Arena<Request>& arena) noexcept {
    if (platform::races_are_sought()) {
        causality::found_complete(*free_);
        // If another thread took this request, it would order the two threads, as the request
        // stands for its last operation.
        if (count_ <= most_while_watched) return;
    }
    const InSection section(visitor_, Section::request_pool);
    Request* list = nullptr;
    for (; count_ > most_ / 2; --count_) {
        Request* request = free_;
        free_ = request->next;
        request->next = list;
        list = request;
    }
    arena.give(list);
}

void RequestPool::drain(Arena<Request>& arena) noexcept {
    arena.give(free_);
    free_ = nullptr;
    count_ = 0;
}

}  // namespace heddle::core

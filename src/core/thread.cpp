// SPDX-License-Identifier: BSD-3-Clause
#include "core/thread.hpp"

#include "sync/locks/sections.hpp"

namespace heddle::core {

using sync::locks::InSection;
using sync::locks::Section;

void RequestPool::refill(Arena<Request>& arena) noexcept {
    const InSection section(visitor_, Section::request_pool);
    free_ = arena.take(batch_);
    for (Request* request = free_; request != nullptr; request = request->next) ++count_;
}

void RequestPool::spill(Arena<Request>& arena) noexcept {
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

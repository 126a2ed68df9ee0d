// SPDX-License-Identifier: BSD-3-Clause
#include "core/thread.hpp"

namespace heddle::core {

void RequestPool::refill(Arena<Request>& arena) noexcept {
    free_ = arena.take(batch);
    for (Request* request = free_; request != nullptr; request = request->next) ++count_;
}

void RequestPool::spill(Arena<Request>& arena) noexcept {
    Request* list = nullptr;
    for (; count_ > most / 2; --count_) {
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

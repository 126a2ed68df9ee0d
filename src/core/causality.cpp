// SPDX-License-Identifier: BSD-3-Clause
#include "core/causality.hpp"

namespace heddle::core::causality {
namespace {

/// Its address stands for all other processes.
char other_processes;

/// Whether other processes have to have done something for it to be complete.
bool heard_of_others(const Request& request) noexcept {
    switch (request.operation) {
        case Operation::send: return request.synchronous && !request.cancelled;
        case Operation::receive: return !request.cancelled && request.peer == elsewhere;
        case Operation::schedule:
        case Operation::partitioned: return true;
        default: return false;
    }
}

}  // namespace

void before_other_processes() noexcept { before(&other_processes); }
void after_other_processes() noexcept { after(&other_processes); }

void posted(Request& receive) noexcept {
    receive.peer = elsewhere;
    before(&receive);
    before_other_processes();  // one of them may learn of it, by a synchronous send
}

void matched(Request& receive, const Request& send, bool synchronous) noexcept {
    if (synchronous) {
        after(&receive);
        before(&send);
    }
    after(&send);
    before(&receive);
}

void found_complete(const Request& request) noexcept {
    if (!platform::races_are_sought()) return;
    after(&request);
    if (heard_of_others(request)) after_other_processes();
}

}  // namespace heddle::core::causality

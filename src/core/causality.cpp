// SPDX-License-Identifier: BSD-3-Clause
#include "core/causality.hpp"

#include "core/request_type.hpp"

namespace heddle::core::causality {
namespace {

/// The address of this variable stands for all other processes.
char other_processes;

}  // namespace

void before_other_processes() noexcept { before(&other_processes); }
void after_other_processes() noexcept { after(&other_processes); }

void posted(Request& receive) noexcept {
    receive.peer = elsewhere;
    before(&receive);
    before_other_processes();  // another process may learn of it, by a synchronous send
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
    const RequestType& type = type_of(request);
    if (type.heard_of_others != nullptr && type.heard_of_others(request)) after_other_processes();
}

}  // namespace heddle::core::causality

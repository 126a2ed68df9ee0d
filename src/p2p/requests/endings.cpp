// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/requests/endings.hpp"

#include <algorithm>

#include "core/request_type.hpp"
#include "p2p/engine.hpp"

namespace heddle::p2p {

void Endings::free_when_done(core::Thread& thread, core::Request& request) {
    if (request.completed()) return thread.engine->requests().free_completed(thread, request);
    const std::lock_guard guard(lock_);
    abandoned_.push_back(&request);
    count_.store(static_cast<std::uint32_t>(abandoned_.size()), relaxed);
    for (sync::Slot* slot : awaited_by_) slot->signal();  // they then await this send, too
}

bool Endings::has_sends(core::Thread& thread, Owner owner) {
    reap_some(thread);
    const std::lock_guard guard(lock_);
    return std::any_of(abandoned_.begin(), abandoned_.end(), [&](const core::Request* request) {
        const core::RequestType& type = core::type_of(*request);
        return type.still_sends != nullptr && type.still_sends(*request) &&
            (owner == everybody || *owner == type.session_of(*request));
    });
}

void Endings::await(sync::Slot& slot) {
    const std::lock_guard guard(lock_);
    if (std::find(awaited_by_.begin(), awaited_by_.end(), &slot) == awaited_by_.end())
        awaited_by_.push_back(&slot);
    awaiting_.store(static_cast<std::uint32_t>(awaited_by_.size()), relaxed);
    // Several threads may wait for the end of one send. The thread that it signals tells the others
    // (tell_all()).
    for (core::Request* request : abandoned_) (void)request->announce(&slot);
}

void Endings::unawait(sync::Slot& slot) {
    const std::lock_guard guard(lock_);
    std::erase(awaited_by_, &slot);
    awaiting_.store(static_cast<std::uint32_t>(awaited_by_.size()), relaxed);
    for (core::Request* request : abandoned_) {
        request->unannounce(&slot);
        if (!awaited_by_.empty()) (void)request->announce(awaited_by_.front());
    }
    for (sync::Slot* other : awaited_by_) other->signal();
}

void Endings::tell_all() {
    const std::lock_guard guard(lock_);
    for (sync::Slot* slot : awaited_by_) slot->signal();
}

void Endings::reap_some(core::Thread& thread) {
    const std::unique_lock guard(lock_, std::try_to_lock);
    if (!guard.owns_lock()) return;
    std::erase_if(abandoned_, [&](core::Request* request) {
        if (!request->completed()) return false;
        thread.engine->requests().free_completed(thread, *request);
        return true;
    });
    count_.store(static_cast<std::uint32_t>(abandoned_.size()), relaxed);
}

}  // namespace heddle::p2p

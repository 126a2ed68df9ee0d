// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/requests/join.hpp"

#include <algorithm>
#include <memory>

#include "core/causality.hpp"
#include "mpi.h"
#include "objects/process.hpp"
#include "objects/status.hpp"
#include "p2p/requests/listener.hpp"
#include "p2p/requests/message_requests.hpp"

namespace heddle::p2p {
namespace {

class Join final : public Listener {
public:
    Join(core::Request& whole, std::span<core::Request* const> parts, std::vector<std::byte> kept,
         objects::Communicator* made)
        : whole_(whole),
          parts_(parts.begin(), parts.end()),
          kept_(std::move(kept)),
          made_(made),
          left_(static_cast<std::uint32_t>(parts.size())) {}

    void start(ProgressCall& call) noexcept {
        for (core::Request* part : parts_) {
            if (part->immortal)
                completed(call, *part);
            else
                listen(call, *part, *this);
        }
    }
    void completed(ProgressCall& call, core::Request&) noexcept override {
        core::Request& whole = whole_;
        // Release for this part's outcome, acquire for the others'. The thread that takes the last
        // one destroys.
        if (left_.fetch_sub(1, acq_rel) != 1) return tell_of_part(call, whole);
        if (parts_.front()->error == MPI_ERR_TRUNCATE) [[unlikely]]
            tell_what_was_cut();
        if (made_ != nullptr) made_->context = made_->agreed;
        call.complete(whole_);
        end(call.thread, by_completion);
    }
    /// Called once for each of the two ends. The second one destroys.
    void end(core::Thread& thread, std::uint32_t which) noexcept {
        if ((ended_.fetch_or(which, acq_rel) | which) != (by_completion | by_owner)) return;
        Engine& engine = *thread.engine;
        for (core::Request* part : parts_) engine.requests().free(thread, *part);
        engine.requests().free(thread, whole_);
        delete this;
    }
    const std::vector<core::Request*>& parts() const noexcept { return parts_; }
    const objects::Session* session = nullptr;  ///< session of its sends
    /// A communicator was to get its context, and there was none.
    bool without_context() const noexcept { return made_ != nullptr && made_->context == 0; }

    static constexpr std::uint32_t by_completion = 1;
    static constexpr std::uint32_t by_owner = 2;

private:
    void tell_what_was_cut() noexcept {
        const core::Request& receive = *parts_.front();
        whole_.source = receive.source;
        whole_.tag = receive.tag;
        whole_.order = receive.order;
    }
    /// Tells a thread that waits for the end of sends (Endings::await()). It has its slot in the
    /// whole, and may get one signal too many (core/request.hpp).
    static void tell_of_part(ProgressCall& call, const core::Request& whole) noexcept {
        sync::Slot* waiter = whole.waiter.load(relaxed);
        if (waiter != nullptr && !Listener::is(waiter)) call.wake(*waiter);
    }

    core::Request& whole_;
    std::vector<core::Request*> parts_;
    std::vector<std::byte> kept_;
    objects::Communicator* made_;
    std::atomic<std::uint32_t> left_;
    std::atomic<std::uint32_t> ended_{0};
};

Join& join_of(const core::Request& whole) noexcept { return *static_cast<Join*>(whole.extra); }

}  // namespace

core::Request* join(core::Thread& thread, std::span<core::Request* const> parts,
                    std::vector<std::byte> kept, objects::Communicator* made) {
    Engine& engine = *thread.engine;
    const auto over = [](const core::Request* part) { return part->immortal; };
    if (!parts.empty() && std::all_of(parts.begin() + 1, parts.end(), over)) return parts.front();
    core::Request* whole = engine.requests().take(thread);
    if (whole == nullptr) return nullptr;
    auto owner = std::make_unique<Join>(*whole, parts, std::move(kept), made);
    whole->operation = core::Operation::join;
    whole->error = 0;
    whole->cancelled = false;
    whole->any_tag = true;  // its parts are in several instances
    whole->communicator = nullptr;
    whole->capacity = parts.empty() ? 0 : parts.front()->capacity;
    whole->extra = owner.get();
    for (const core::Request* part : parts)
        if (part->operation == core::Operation::send && !part->immortal)
            owner->session = static_cast<const objects::Session*>(part->extra);
    ProgressCall call(thread);
    // The owner's end is still to come. So the join lives at least as long as this function.
    owner.release()->start(call);
    p2p::finish(call);
    return whole;
}

namespace {

/// Returns the error of the first part that failed.
int error_of(const Join& join) noexcept {
    for (const core::Request* part : join.parts())
        if (part->error != MPI_SUCCESS) return part->error;
    return join.without_context() ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int look(const core::Request& whole, MPI_Status* status) {
    const core::Request& first = *join_of(whole).parts().front();
    if (first.operation == core::Operation::receive)
        set_status_of_receive(status, first);
    else
        objects::set_empty_status(status);
    return error_of(join_of(whole));
}

void free(core::Thread& thread, core::Request& whole) noexcept {
    for (const core::Request* part : join_of(whole).parts()) core::causality::found_complete(*part);
    whole.kind.store(core::Kind::none, relaxed);
    join_of(whole).end(thread, Join::by_owner);
}

bool any_still_sends(const core::Request& whole) noexcept {
    const std::vector<core::Request*>& parts = join_of(whole).parts();
    return std::any_of(parts.begin(), parts.end(), [](const core::Request* part) {
        return part->operation == core::Operation::send && !part->completed();
    });
}

const objects::Session* session_of(const core::Request& whole) noexcept {
    return join_of(whole).session;
}

constexpr core::RequestType join_type{
    .look = look, .free = free, .still_sends = any_still_sends, .session_of = session_of};
const core::TypeOfRequests joins(core::Operation::join, join_type);

}  // namespace

}  // namespace heddle::p2p

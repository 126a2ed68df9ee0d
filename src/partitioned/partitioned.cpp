// SPDX-License-Identifier: BSD-3-Clause
#include "partitioned/partitioned.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/causality.hpp"
#include "objects/process.hpp"
#include "p2p/operations.hpp"
#include "p2p/report/tell.hpp"
#include "p2p/requests/join.hpp"
#include "p2p/requests/message_requests.hpp"

namespace heddle::partitioned {
namespace {

using objects::partitioned_context;

std::uint32_t context_of_terms(const objects::Communicator& communicator) noexcept {
    return communicator.context | partitioned_context;
}
std::uint32_t context_of_parts(const objects::Communicator& communicator) noexcept {
    return (communicator.context + 1) | partitioned_context;
}

}  // namespace

// --- both ends ---

End::End(core::Thread& thread, objects::Communicator& communicator, const Side& side,
         std::int32_t peer, std::int32_t tag)
    : process_(*thread.process), communicator_(communicator), side_(side), peer_(peer), tag_(tag) {
    communicator_.retain();
    side_.type->retain();
}

End::~End() {
    objects::drop(process_, *side_.type);
    objects::drop(process_, communicator_);
}

void End::leave() noexcept {
    if (users_.fetch_sub(1, acq_rel) == 1) delete this;
}

namespace {

int look(const core::Request& whole, MPI_Status* status) {
    p2p::set_status_of_receive(status, whole);
    return whole.error;
}

void tell(core::Thread& thread, const core::Request& whole, node::AwaitedEvent& event) noexcept {
    event.kind = node::AwaitedKind::partitioned;
    event.peer = whole.source;
    event.tag = whole.tag;
    p2p::tell_context(thread, whole.context, event);
}

bool heard_of_others(const core::Request&) noexcept { return true; }

constexpr core::RequestType type{.look = look,
                                 .cancel = p2p::refuse_to_cancel,
                                 .tell = tell,
                                 .heard_of_others = heard_of_others};
const core::TypeOfRequests transfers(core::Operation::partitioned, type);

}  // namespace

/// Makes the request of a transfer of `parts` parts. Returns nullptr if memory has run out.
core::Request* End::begin(core::Thread& thread, std::uint64_t parts) {
    core::Request* request = thread.engine->requests().take(thread);
    if (request == nullptr) return nullptr;
    request->operation = core::Operation::partitioned;
    request->any_tag = true;  // parts lie in different instances
    request->cancelled = false;
    request->error = MPI_SUCCESS;
    request->source = peer_;
    request->tag = tag_;
    request->context = communicator_.context;
    request->bytes = 0;
    request->capacity = bytes_of_partition() * static_cast<std::uint64_t>(side_.partitions);
    request->communicator = &communicator_;
    error_.store(MPI_SUCCESS, relaxed);
    // Published with the parts when they start, or by the program to its threads.
    left_.store(parts, relaxed);
    whole_ = request;
    users_.fetch_add(1, relaxed);
    return request;
}

void End::over(p2p::ProgressCall& call, std::uint64_t parts) noexcept {
    // Release for these parts, acquire for the others.
    if (parts == 0) return;
    core::causality::before(whole_);
    if (left_.fetch_sub(parts, acq_rel) != parts) return;
    core::Request& request = *whole_;
    request.error = error_.load(relaxed);
    call.complete(request);
    leave();
}

void End::let_go(core::Thread& thread, core::Request& request) noexcept {
    if (request.inner != nullptr) thread.engine->endings().free_when_done(thread, *request.inner);
    leave();
}

// --- the sender ---

Sender::Sender(core::Thread& thread, objects::Communicator& communicator, const Side& side,
               std::int32_t peer, std::int32_t tag)
    : End(thread, communicator, side, peer, tag),
      ready_(std::make_unique<Partition[]>(static_cast<std::size_t>(side.partitions))),
      first_tag_(process_.partition_tags.take(side.partitions)) {}

bool Sender::pair(core::Thread& thread) {
    const Terms terms{static_cast<std::uint64_t>(side_.partitions), bytes_of_partition(),
                      first_tag_};
    std::vector<std::byte> kept(sizeof terms);
    std::memcpy(kept.data(), &terms, sizeof terms);
    core::Request* send = p2p::start_send(thread, communicator_, context_of_terms(communicator_),
                                          kept.data(), sizeof terms, peer_, tag_);
    if (send == nullptr) return false;
    // The join keeps the bytes. A completed send is its first part, as that would be the receive.
    core::Request* const parts[] = {&thread.engine->requests().completed_send(), send};
    core::Request* whole = p2p::join(thread, parts, std::move(kept));
    if (whole == nullptr) return false;
    if (!whole->immortal) thread.engine->endings().free_when_done(thread, *whole);
    return true;
}

void Sender::start(core::Thread& thread, core::Request& request) {
    ++transfer_;
    request.inner = begin(thread, static_cast<std::uint64_t>(side_.partitions));
}

int Sender::ready(core::Thread& thread, std::int64_t partition) {
    core::causality::before(whole_);
    Partition& state = ready_[static_cast<std::size_t>(partition)];
    if (state.transfer.exchange(transfer_, relaxed) == transfer_) return MPI_ERR_ARG;
    const std::byte* data = side_.data + partition * side_.count * side_.type->extent;
    const p2p::Shape shape{bytes_of_partition(), side_.type->contiguous ? nullptr : side_.type};
    core::Request* message =
        p2p::start_send(thread, communicator_, context_of_parts(communicator_), data, shape, peer_,
                        first_tag_ + static_cast<std::int32_t>(partition));
    p2p::ProgressCall call(thread);
    if (message != nullptr && !message->immortal) {
        p2p::listen(call, *message, *this);
    } else {
        if (message == nullptr) error_.store(MPI_ERR_NO_MEM, relaxed);
        over(call, 1);
    }
    p2p::finish(call);
    return MPI_SUCCESS;
}

void Sender::completed(p2p::ProgressCall& call, core::Request& message) noexcept {
    call.thread.engine->requests().free(call.thread, message);
    over(call, 1);
}

// --- the receiver ---

Receiver::Receiver(core::Thread& thread, objects::Communicator& communicator, const Side& side,
                   std::int32_t peer, std::int32_t tag)
    : End(thread, communicator, side, peer, tag) {}

bool Receiver::pair(core::Thread& thread) {
    users_.fetch_add(1, relaxed);
    if (p2p::start_receive(thread, communicator_, context_of_terms(communicator_), &terms_,
                           sizeof terms_, peer_, tag_, *this) != nullptr)
        return true;
    leave();
    return false;
}

/// Handles the completion of the terms, or of a part. Locks may be held.
void Receiver::completed(p2p::ProgressCall& call, core::Request& message) noexcept {
    p2p::Engine& engine = *call.thread.engine;
    if ((message.context & 1) == 0) {
        engine.requests().free(call.thread, message);
        if ((state_.fetch_or(terms_here, acq_rel) & wanted) != 0)
            call.put_off(*this);
        else
            leave();
        return;
    }
    const auto part = static_cast<std::size_t>(message.tag - terms_.first_tag);
    if (message.error != MPI_SUCCESS) error_.store(message.error, relaxed);
    engine.requests().free(call.thread, message);
    if (!packed_.empty()) {
        const std::uint64_t from = part * terms_.bytes;
        objects::unpack(*side_.type, side_.data, from, packed_.data() + from, terms_.bytes);
    }
    core::causality::before(&here_[part]);
    here_[part].store(true, release);
    over(call, 1);
}

/// Runs when the terms have come after a transfer was started.
void Receiver::run(core::Thread& thread) noexcept {
    post(thread);
    leave();
}

void Receiver::start(core::Thread& thread, core::Request& request) {
    // One part is this thread's, so that nothing completes before all of it is started.
    request.inner = begin(thread, 1);
    if (request.inner == nullptr) return;
    if ((state_.fetch_or(wanted, acq_rel) & terms_here) != 0) post(thread);
}

/// Returns whether the sender's partitions begin and end between elements of this side.
bool Receiver::takes_elements() const noexcept {
    return side_.type->contiguous ||
        (side_.type->size != 0 && terms_.bytes % static_cast<std::uint64_t>(side_.type->size) == 0);
}

/// Prepares this side for the terms. Returns false if the message does not fit.
bool Receiver::accept() noexcept {
    const std::uint64_t room = bytes_of_partition() * static_cast<std::uint64_t>(side_.partitions);
    if (terms_.bytes * terms_.partitions > room) return false;
    if (here_ != nullptr) return true;
    parts_ = terms_.partitions;
    here_ = std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(parts_));
    if (!takes_elements()) packed_.resize(room);
    return true;
}

/// Posts a receive for each part. The caller holds no lock.
void Receiver::post(core::Thread& thread) noexcept {
    std::uint64_t over_at_once = 1;
    if (!accept()) {
        error_.store(MPI_ERR_TRUNCATE, relaxed);
    } else {
        for (std::uint64_t part = 0; part < parts_; ++part) here_[part].store(false, relaxed);
        whole_->bytes = terms_.bytes * terms_.partitions;
        left_.fetch_add(parts_, relaxed);  // before any of them is started
        const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(side_.type->size, 1));
        for (std::uint64_t part = 0; part < parts_; ++part) {
            const std::uint64_t from = part * terms_.bytes;
            p2p::Shape shape{terms_.bytes};
            std::byte* data = side_.data + from;
            if (!packed_.empty()) {
                data = packed_.data() + from;
            } else if (!side_.type->contiguous) {
                data = side_.data + static_cast<std::int64_t>(from / size) * side_.type->extent;
                shape.layout = side_.type;
            }
            if (p2p::start_receive(thread, communicator_, context_of_parts(communicator_), data,
                                   shape, peer_, terms_.first_tag + static_cast<std::int32_t>(part),
                                   *this) != nullptr)
                continue;
            error_.store(MPI_ERR_NO_MEM, relaxed);
            ++over_at_once;
        }
    }
    state_.fetch_and(~wanted, relaxed);
    p2p::ProgressCall call(thread);
    over(call, over_at_once);
    p2p::finish(call);
}

bool Receiver::arrived(std::int64_t partition) const noexcept {
    if ((state_.load(acquire) & (terms_here | wanted)) != terms_here) return false;
    // Without bytes, partitions are divided evenly.
    const std::uint64_t each =
        terms_.bytes != 0 ? terms_.bytes : static_cast<std::uint64_t>(side_.partitions);
    const std::uint64_t mine = terms_.bytes != 0 ? bytes_of_partition() : parts_;
    const std::uint64_t from = static_cast<std::uint64_t>(partition) * mine;
    for (std::uint64_t part = from / each; part < parts_ && part * each < from + mine; ++part) {
        if (!here_[part].load(acquire)) return false;
        core::causality::after(&here_[part]);
    }
    return true;
}

}  // namespace heddle::partitioned

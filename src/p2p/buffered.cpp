// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/buffered.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/request_type.hpp"
#include "mpi.h"
#include "objects/process.hpp"
#include "p2p/requests/listener.hpp"
#include "p2p/waiting.hpp"

namespace heddle::p2p {
namespace {

void tell_of_flush(core::Thread& thread, const core::Request&, node::AwaitedEvent& event) noexcept {
    event.kind = node::AwaitedKind::buffered;
    tell_everybody(thread, event);
}

constexpr core::RequestType flush_type{.tell = tell_of_flush};
const core::TypeOfRequests flushes(core::Operation::flush, flush_type);

}  // namespace

/// The place of one message.
class BsendBuffer::Piece final : public Listener {
public:
    Piece(std::shared_ptr<BsendBuffer> owner, std::uint64_t length) noexcept
        : owner(std::move(owner)), length(length), bytes(std::max<std::uint64_t>(length, 1)) {}

    void completed(ProgressCall& call, core::Request& request) noexcept override {
        call.thread.engine->requests().free(call.thread, request);
        const std::unique_ptr<Piece> self(this);
        owner->release(call, *this);
    }

    std::shared_ptr<BsendBuffer> owner;
    const std::uint64_t length;  ///< of the message
    const std::uint64_t bytes;   ///< taken from the buffer: at least one
    std::byte* data = nullptr;
    std::uint64_t number = 0;
};

BsendBuffer::BsendBuffer(void* memory, std::uint64_t bytes) noexcept
    : memory_(memory), bytes_(bytes), automatic_(memory == MPI_BUFFER_AUTOMATIC) {}

bool BsendBuffer::is_empty() {
    const std::lock_guard guard(lock_);
    return pieces_ == 0;
}

/// Reserves the first place that fits. Called with the lock held. Returns false if there is no
/// room.
bool BsendBuffer::reserve(Piece& piece) {
    if (automatic_) return reserve_automatic(piece);
    std::uint64_t from = 0;
    for (const auto& [offset, length] : used_) {
        if (offset - from >= piece.bytes) break;
        from = offset + length;
    }
    // A message of no bytes only needs a place in the records.
    if (from > bytes_ || bytes_ - from < piece.length || used_.contains(from)) return false;
    used_.emplace(from, piece.bytes);
    piece.data = static_cast<std::byte*>(memory_) + from;
    return true;
}

bool BsendBuffer::reserve_automatic(Piece& piece) noexcept {
    if (bytes_ != 0 && piece.bytes > bytes_ - taken_) return false;
    piece.data = static_cast<std::byte*>(std::malloc(piece.bytes));
    if (piece.data != nullptr) taken_ += piece.bytes;
    return piece.data != nullptr;
}

/// Called with the lock held.
void BsendBuffer::give_back(const Piece& piece) noexcept {
    --pieces_;
    if (!automatic_) {
        used_.erase(static_cast<std::uint64_t>(piece.data - static_cast<std::byte*>(memory_)));
        return;
    }
    std::free(piece.data);
    taken_ -= piece.bytes;
}

void BsendBuffer::release(ProgressCall& call, const Piece& piece) noexcept {
    {
        const std::lock_guard guard(lock_);
        give_back(piece);
        std::erase_if(flushes_, [&](Flush& flush) {
            if (flush.latest < piece.number || --flush.pieces != 0) return false;
            call.complete(*flush.request);
            return true;
        });
    }
    call.thread.engine->endings().tell();
}

bool BsendBuffer::send(core::Thread& thread, const Outbound& message) {
    auto piece = std::make_unique<Piece>(shared_from_this(), message.bytes);
    {
        const std::lock_guard guard(lock_);
        if (!reserve(*piece)) return false;
        piece->number = ++latest_;
        ++pieces_;
    }
    gather(piece->data, message.data, message.layout, 0, message.bytes);
    Outbound copy = message;
    copy.data = piece->data;
    copy.layout = nullptr;
    copy.how = Sending::blocking;
    Engine& engine = *thread.engine;
    ProgressCall call(thread);
    core::Request* request = nullptr;
    try {
        request = engine.start_send(thread, copy);
    } catch (const std::bad_alloc&) {
        release(call, *piece);
        throw;
    }
    if (request == nullptr || request->immortal)
        release(call, *piece);
    else
        listen(call, *request, *piece.release());
    p2p::finish(call);
    return request != nullptr;
}

core::Request* BsendBuffer::start_flush(core::Thread& thread) {
    Engine& engine = *thread.engine;
    std::lock_guard guard(lock_);
    if (pieces_ == 0) return &engine.requests().completed_send();
    core::Request* request = engine.requests().take(thread);
    if (request == nullptr) return nullptr;
    request->operation = core::Operation::flush;
    request->error = 0;
    request->cancelled = false;
    request->any_tag = true;  // it waits for messages of any instance
    request->communicator = nullptr;
    request->capacity = 0;
    flushes_.push_back({request, pieces_, latest_});
    return request;
}

bool BsendBuffer::flush(core::Thread& thread) {
    core::Request* request = start_flush(thread);
    if (request == nullptr) return false;
    Engine& engine = *thread.engine;
    wait_for(engine, thread, *request);
    engine.requests().free(thread, *request);
    return true;
}

}  // namespace heddle::p2p

// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/buffered.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/request_type.hpp"
#include "mpi.h"
#include "objects/process.hpp"
#include "p2p/listener.hpp"
#include "p2p/waiting.hpp"

namespace heddle::p2p {
namespace {

void describe_flush(Engine&, const core::Request&, char* text, std::size_t bytes) {
    std::snprintf(text, bytes, "(buffered messages wait for their receives)");
}

constexpr core::RequestType flush_type{.describe = describe_flush};
const core::TypeOfRequests flushes(core::Operation::flush, flush_type);

}  // namespace

/// Where one message lies.
class BsendBuffer::Piece final : public Listener {
public:
    Piece(std::shared_ptr<BsendBuffer> owner, std::byte* data, std::uint64_t number) noexcept
        : owner(std::move(owner)), data(data), number(number) {}

    void completed(Turn& turn, core::Request& request) noexcept override {
        turn.thread.engine->free_request(turn.thread, request);
        const std::unique_ptr<Piece> self(this);
        owner->release(turn, *this);
    }

    std::shared_ptr<BsendBuffer> owner;
    std::byte* data;
    std::uint64_t number;
};

BsendBuffer::BsendBuffer(void* memory, std::uint64_t bytes) noexcept
    : memory_(memory), bytes_(bytes), automatic_(memory == MPI_BUFFER_AUTOMATIC) {}

/// First fit. Locked; nullptr: no room.
std::byte* BsendBuffer::reserve(std::uint64_t bytes) {
    const std::uint64_t wanted = std::max<std::uint64_t>(bytes, 1);
    if (automatic_) return static_cast<std::byte*>(std::malloc(wanted));
    std::uint64_t from = 0;
    for (const auto& [offset, length] : used_) {
        if (offset - from >= wanted) break;
        from = offset + length;
    }
    // A message of no bytes needs a place in the records only.
    if (from > bytes_ || bytes_ - from < bytes || used_.contains(from)) return nullptr;
    used_.emplace(from, wanted);
    return static_cast<std::byte*>(memory_) + from;
}

void BsendBuffer::release(Turn& turn, Piece& piece) noexcept {
    std::lock_guard guard(lock_);
    if (automatic_)
        std::free(piece.data);
    else
        used_.erase(static_cast<std::uint64_t>(piece.data - static_cast<std::byte*>(memory_)));
    --pieces_;
    std::erase_if(flushes_, [&](Flush& flush) {
        if (flush.latest < piece.number || --flush.pieces != 0) return false;
        turn.complete(*flush.request);
        return true;
    });
}

bool BsendBuffer::send(core::Thread& thread, const Outbound& message) {
    std::unique_ptr<Piece> piece;
    {
        std::lock_guard guard(lock_);
        std::byte* place = reserve(message.bytes);
        if (place == nullptr) return false;
        piece = std::make_unique<Piece>(shared_from_this(), place, ++latest_);
        ++pieces_;
    }
    gather(piece->data, message.data, message.layout, 0, message.bytes);
    Outbound copy = message;
    copy.data = piece->data;
    copy.layout = nullptr;
    Engine& engine = *thread.engine;
    core::Request* request = engine.start_send(thread, copy);
    Turn turn(thread);
    if (request == nullptr || request->immortal)
        release(turn, *piece);
    else
        listen(turn, *request, *piece.release());
    engine.finish(turn);
    return request != nullptr;
}

core::Request* BsendBuffer::start_flush(core::Thread& thread) {
    Engine& engine = *thread.engine;
    std::lock_guard guard(lock_);
    if (pieces_ == 0) return &engine.completed_send();
    core::Request* request = engine.take_request(thread);
    if (request == nullptr) return nullptr;
    request->operation = core::Operation::flush;
    request->error = 0;
    request->cancelled = false;
    request->any_tag = true;  // messages of any instance
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
    engine.free_request(thread, *request);
    return true;
}

}  // namespace heddle::p2p

// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/payload/outgoing_streams.hpp"

#include "p2p/payload/payload.hpp"

namespace heddle::p2p {

using node::PayloadProducer;
using node::Piece;

instance::Pending* OutgoingStreams::add(instance::HeldOutbox outbox, instance::Channel& channel,
                                        core::Request& send) {
    instance::Pending* stream = pending_.take();
    if (stream == nullptr) return nullptr;
    const auto manifest = channel.payload->take_manifest();
    if (!manifest) {
        pending_.give(stream);
        return nullptr;
    }
    *stream = {};
    stream->manifest = *manifest;
    stream->data = send.buffer;
    stream->layout = layout_of(send);
    stream->bytes = send.capacity;
    stream->completes = &send;
    channel.streams.append(*stream);
    if (channel.streaming) return stream;
    channel.streaming = true;
    channel.next_streaming = outbox->streaming;
    outbox->streaming = &channel;
    return stream;
}

bool OutgoingStreams::push(ProgressCall& call, instance::HeldOutbox outbox) {
    bool moved = false;
    for (instance::Channel** at = &outbox->streaming; *at != nullptr;) {
        instance::Channel& channel = **at;
        if (push(call, channel)) moved = true;
        if (channel.streams.empty()) {
            *at = channel.next_streaming;
            channel.streaming = false;
        } else {
            at = &channel.next_streaming;
        }
    }
    return moved;
}

bool OutgoingStreams::push(ProgressCall& call, instance::Channel& channel) {
    bool moved = false;
    while (!channel.streams.empty() && push_pieces(call, channel, channel.streams.front()))
        moved = true;
    return moved;
}

/// Returns false if there is no room.
bool OutgoingStreams::push_pieces(ProgressCall& call, instance::Channel& channel,
                                  instance::Pending& stream) {
    PayloadProducer& ring = *channel.payload;
    const node::Room room = ring.claim(stream.manifest, stream.offset, stream.bytes);
    if (room.is_closed) {
        give(channel, channel.streams.take_front());
        return true;
    }
    if (room.bytes == 0) return false;
    store(ring, room, stream);
    if (stream.bytes != 0) return true;
    core::Request& send = *stream.completes;
    give(channel, channel.streams.take_front());
    if (send.synchronous) return true;  // it ends with the receiver's answer
    announced_.end();
    call.complete(send);
    return true;
}

/// Fills the room, and reports each piece.
void OutgoingStreams::store(PayloadProducer& ring, const node::Room& room,
                            instance::Pending& stream) noexcept {
    Piece piece = room.first;
    for (std::uint64_t left = room.bytes;;) {
        if (stream.layout == nullptr)
            ring.store(piece, stream.data + stream.offset);
        else
            gather(ring.at(piece.at), stream.data, stream.layout, stream.offset, piece.bytes);
        stream.offset += piece.bytes;
        stream.bytes -= piece.bytes;
        ring.publish(stream.manifest, stream.offset);
        left -= piece.bytes;
        if (left == 0) return;
        piece = ring.next_piece(piece, left);
    }
}

void OutgoingStreams::drop(instance::Channel& channel, const core::Request& send) noexcept {
    const auto is_of_send = [&](const instance::Pending& stream) {
        return stream.completes == &send;
    };
    if (instance::Pending* stream = channel.streams.take_if(is_of_send)) give(channel, *stream);
}

void OutgoingStreams::give(instance::Channel& channel, instance::Pending& stream) noexcept {
    channel.payload->end_stream(stream.manifest);
    pending_.give(&stream);
}

}  // namespace heddle::p2p

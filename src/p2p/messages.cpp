// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/messages.hpp"

#include <cstdlib>
#include <new>

namespace heddle::p2p {
namespace {

constexpr std::size_t most_messages = std::size_t{1} << 26;

}  // namespace

Messages::Messages() : arena_(most_messages, core::large_chunk) {}

match::Message& Messages::make(core::Thread& thread, std::uint8_t instance, std::int32_t process,
                               const match::Envelope& envelope) {
    match::Message* message = thread.messages.take(arena_);
    if (message == nullptr) throw std::bad_alloc();
    message->kind.store(core::Kind::none, relaxed);
    message->envelope = envelope;
    message->instance = instance;
    message->peer = process;
    message->payload = nullptr;
    return *message;
}

void Messages::copy_payload(core::Thread& thread, match::Message& message, const std::byte* data,
                            Shape shape, std::size_t room) {
    message.length = shape.bytes;
    if (shape.bytes == 0) return;
    message.payload =
        shape.bytes <= room ? message.small : thread.blocks.take(shape.bytes, blocks_);
    if (message.payload == nullptr) {
        free(thread, message);
        throw std::bad_alloc();
    }
    gather(message.payload, data, shape.layout, 0, shape.bytes);
}

void Messages::free(core::Thread& thread, match::Message& message) noexcept {
    if (message.payload != nullptr && message.payload != message.small)
        thread.blocks.give(message.payload, message.length, blocks_);
    message.protocol = match::no_protocol;
    thread.messages.give(message, arena_);
}

void Messages::free(match::Message& message) noexcept {
    if (message.payload != message.small) std::free(message.payload);
    message.protocol = match::no_protocol;
    message.next = nullptr;
    arena_.give(&message);
}

void Messages::drain(core::Thread& thread) noexcept {
    thread.messages.drain(arena_);
    thread.blocks.drain(blocks_);
}

void Messages::trim() noexcept {
    blocks_.empty();
    arena_.trim();
}

}  // namespace heddle::p2p

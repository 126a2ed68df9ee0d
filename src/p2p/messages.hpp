// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Memory of kept messages: their entries, and copied payloads.
///
/// Thread safety  every function from any thread, with that thread's own Thread.

#include <cstddef>
#include <cstdint>

#include "core/thread.hpp"
#include "match/message.hpp"
#include "p2p/payload/payload.hpp"

namespace heddle::p2p {

class Messages {
public:
    Messages();

    /// Makes a message without a payload. Throws std::bad_alloc.
    match::Message& make(core::Thread& thread, std::uint8_t instance, std::int32_t process,
                         const match::Envelope& envelope);
    /// Gives the message a copy of its payload, in itself if that has at most `room` bytes. Throws
    /// std::bad_alloc, and has freed the message then.
    void copy_payload(core::Thread& thread, match::Message& message, const std::byte* data,
                      Shape shape, std::size_t room = sizeof(match::Message::small));
    void free(core::Thread& thread, match::Message& message) noexcept;
    /// Does the same without the pools of a thread.
    void free(match::Message& message) noexcept;

    /// Takes back free memory that the thread keeps.
    void drain(core::Thread& thread) noexcept;
    /// Gives back unused memory.
    void trim() noexcept;
    core::Arena<match::Message>& arena() noexcept { return arena_; }

private:
    core::Arena<match::Message> arena_;
    core::BlockDepot blocks_;
};

}  // namespace heddle::p2p

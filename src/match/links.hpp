// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Doubly linked lists of messages through one of their links.

#include "match/message.hpp"

namespace heddle::match {

template <Link Message::* link>
void append(Message*& first, Message*& last, Message& message) noexcept {
    (message.*link) = {last, nullptr};
    (last == nullptr ? first : (last->*link).after) = &message;
    last = &message;
}

template <Link Message::* link>
void remove(Message*& first, Message*& last, Message& message) noexcept {
    const Link around = message.*link;
    (around.before == nullptr ? first : (around.before->*link).after) = around.after;
    (around.after == nullptr ? last : (around.after->*link).before) = around.before;
}

}  // namespace heddle::match

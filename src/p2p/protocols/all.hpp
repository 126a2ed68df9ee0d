// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// All protocols. A new one is a file, a name here, and a line in all.cpp.

#include "p2p/protocols/protocol.hpp"

namespace heddle::p2p::protocols {

/// Kind of short messages, known without a look-up (Receiver::deliver()).
inline constexpr MessageKind eager_kind = Prefix{}.kind;
inline constexpr MessageKind last_kind = MessageKind::letter;

extern const Protocol eager, eager_sync, ack;                     // whole.cpp
extern const Protocol local, nothing;                             // local.cpp
extern const Protocol placed, payload_ring;                       // placed.cpp
extern const Protocol streamed;                                   // streamed.cpp
extern const Protocol rendezvous, fin, cts, data, share, shared;  // rendezvous.cpp
extern const Protocol readable, cancel, cancelled, pressure;      // network.cpp
extern const Protocol access, refused;                            // accesses.cpp
extern const Protocol letter;                                     // letter.cpp

}  // namespace heddle::p2p::protocols

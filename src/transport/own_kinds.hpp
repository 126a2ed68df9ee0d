// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Kinds of messages that lanes send each other for themselves.

#include <cstdint>

#include "transport/header.hpp"

namespace heddle::transport {

enum OwnKind : std::uint8_t {
    call = first_own_kind,
    answer,
    farewell,
    introduction,  ///< of a sender from another job (transport/guests.hpp)
};

}  // namespace heddle::transport

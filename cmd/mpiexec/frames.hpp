// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The frames (framed.hpp) that mpiexec exchanges with keepers on other hosts, and with heddle where and heddle top.

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "transport/sockets/address.hpp"

namespace heddle::mpiexec {

template <class T>
std::string_view bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// The value that the bytes begin with; nothing if they are too few.
template <class T>
std::optional<T> value_in(std::string_view bytes) {
    T value{};
    if (bytes.size() < sizeof value) return {};
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

namespace frame {

// From a keeper.
inline constexpr char hello = 'H';  ///< Hello
inline constexpr char waits =
    'W';  ///< a number that changes with each wait; 0: the rank does not wait
inline constexpr char answer = 'A';    ///< the round of the Look, then the packed rank
inline constexpr char ended = 'E';     ///< the packed rank
inline constexpr char activity = 'T';  ///< the round of the Watch, then packed rows

// To a keeper.
inline constexpr char look = 'L';   ///< Look
inline constexpr char watch = 'S';  ///< Watch

// From heddle.
inline constexpr char ask = 'Q';  ///< Ask

// To heddle: what it has asked for, in so many frames, and Told.
inline constexpr char before = 'B';  ///< a packed rank, as the first look has found it
inline constexpr char now = 'N';     ///< likewise, the second look
inline constexpr char rows = 'R';    ///< packed rows of a rank
inline constexpr char told = 'F';    ///< Told, then the name of mpiexec's host

struct Hello {
    transport::JobToken secret;
    std::uint64_t layout;
    std::int32_t rank;
};
struct Look {
    std::uint32_t round;
    std::uint32_t for_lines_ms;  ///< that lines of the program may be looked for; 0: they are not
};
struct Watch {
    std::uint32_t round;
    std::uint32_t for_ms;
};
struct Ask {
    transport::JobToken secret;
    std::uint64_t layout;
    std::uint32_t watch_ms;  ///< what threads do in so long; 0: where the ranks are
};
struct Told {
    std::int32_t process;  ///< that the user has called
};

}  // namespace frame

}  // namespace heddle::mpiexec

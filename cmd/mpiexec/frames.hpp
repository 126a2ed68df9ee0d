// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The frames (framed.hpp) that mpiexec exchanges with keepers on other hosts, and with heddle
/// where and heddle top.

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

/// Returns the value at the beginning of the bytes, or nothing if they are too few.
template <class T>
std::optional<T> value_in(std::string_view bytes) {
    T value{};
    if (bytes.size() < sizeof value) return {};
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

namespace frame {

// Frames from a keeper.
inline constexpr char hello = 'H';  ///< Hello
inline constexpr char waits =
    'W';  ///< a number that changes with each wait; 0 if the rank does not wait
inline constexpr char answer = 'A';    ///< the round of the Look, then the packed rank
inline constexpr char ended = 'E';     ///< the packed rank
inline constexpr char activity = 'T';  ///< the round of the Watch, then packed rows

// Frames to a keeper.
inline constexpr char look = 'L';   ///< Look
inline constexpr char watch = 'S';  ///< Watch

// Frames from heddle.
inline constexpr char ask = 'Q';  ///< Ask

// Frames to heddle: the answer in as many frames as it needs, then Told.
inline constexpr char before = 'B';  ///< a packed rank, from the first look
inline constexpr char now = 'N';     ///< a packed rank, from the second look
inline constexpr char rows = 'R';    ///< packed rows of a rank
inline constexpr char told = 'F';    ///< Told, then the name of mpiexec's host

struct Hello {
    transport::JobToken secret;
    std::uint64_t layout;
    std::int32_t rank;
};
struct Look {
    std::uint32_t round;
    std::uint32_t for_lines_ms;  ///< the time for finding lines of the program; 0 if none is wanted
};
struct Watch {
    std::uint32_t round;
    std::uint32_t for_ms;
};
struct Ask {
    transport::JobToken secret;
    std::uint64_t layout;
    std::uint32_t watch_ms;  ///< how long to watch the threads; 0 asks where the ranks are
};
struct Told {
    std::int32_t process;  ///< the mpiexec that the user has called
};

}  // namespace frame

}  // namespace heddle::mpiexec

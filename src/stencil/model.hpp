// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How many messages and threads a halo exchange takes when every thread communicates for itself:
/// the model of "matching misery" (P4, section 3), completed as docs/STENCILS.md derives it.
///
/// The domain of a process is cut into L_x x L_y (x L_z) subdomains with a thread each. A thread sends
/// one message to every neighbour of its subdomain that lies in another process; within the process
/// nothing is sent. A naive decomposition leaves that out: every thread sends to all its neighbours.
///
/// Errors         Refused says what is wrong and what is allowed.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::stencil {

class Refused : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// Named by the points it reads; all but the one in the middle belong to neighbours.
enum class Stencil : std::uint8_t { five = 5, seven = 7, nine = 9, twenty_seven = 27 };

Stencil stencil_of(std::int64_t points);
constexpr std::int64_t neighbours(Stencil stencil) noexcept {
    return static_cast<std::int64_t>(stencil) - 1;
}
constexpr std::size_t dimensions(Stencil stencil) noexcept {
    return stencil == Stencil::five || stencil == Stencil::nine ? 2 : 3;
}

/// Subdomains in each dimension: two or three numbers from 1.
using Decomposition = std::vector<std::int64_t>;

/// "32x32" or "8x8x4".
Decomposition decomposition_of(std::string_view text);

/// What crosses the process's boundary in one direction across one edge (2-D) or face (3-D).
struct Side {
    std::string name;       ///< the dimensions along it: "x", or "xy"
    std::int64_t messages;  ///< M_e or M_s
};

/// What the process receives in one exchange. It sends as much, from T_r threads to T_s.
struct Exchange {
    std::int64_t messages;    ///< M_t
    std::int64_t receiving;   ///< T_r: threads of the process that communicate
    std::int64_t sending;     ///< T_s: threads of other processes that send to it
    std::vector<Side> sides;  ///< none for a naive decomposition
    /// False where a dimension has 1 subdomain: equations 3 and 7 would count it at two opposite sides.
    /// There all threads lie at the boundary, and T_r is their number.
    bool receiving_by_equation;
};

Exchange exchange(Stencil stencil, const Decomposition& lengths);

/// `threads` threads receive `messages_each` from as many threads.
Exchange naive_exchange(std::int64_t threads, std::int64_t messages_each);

}  // namespace heddle::stencil

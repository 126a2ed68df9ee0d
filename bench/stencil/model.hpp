// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The number of messages and threads of a halo exchange in which every thread communicates for
/// itself: the model of "matching misery" (P4, section 3), completed as docs/STENCILS.md derives
/// it.
///
/// The domain of a process is cut into L_x x L_y (x L_z) subdomains with a thread each. A thread
/// sends one message to every neighbour of its subdomain that lies in another process; within the
/// process it sends nothing. A naive decomposition ignores processes: every thread sends to all its
/// neighbours.
///
/// Errors         Refused says what is wrong and what is allowed.

#include <algorithm>
#include <charconv>
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

/// A stencil, named by the points it reads; all but the one in the middle belong to neighbours.
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

/// Reads a decomposition: "32x32" or "8x8x4".
Decomposition decomposition_of(std::string_view text);

/// The messages that cross the process's boundary in one direction across one edge (2-D) or face
/// (3-D).
struct Side {
    std::string name;       ///< the dimensions along it: "x", or "xy"
    std::int64_t messages;  ///< M_e or M_s
};

/// The messages that the process receives in one exchange. It sends as many, from T_r threads to
/// T_s.
struct Exchange {
    std::int64_t messages;    ///< M_t
    std::int64_t receiving;   ///< T_r: threads of the process that communicate
    std::int64_t sending;     ///< T_s: threads of other processes that send to it
    std::vector<Side> sides;  ///< none for a naive decomposition
    /// False if a dimension has 1 subdomain: equations 3 and 7 would count it at two opposite
    /// sides. Then all threads lie at the boundary, and T_r is their number.
    bool receiving_by_equation;
};

Exchange exchange(Stencil stencil, const Decomposition& lengths);

/// Returns the exchange in which `threads` threads receive `messages_each` from as many threads.
Exchange naive_exchange(std::int64_t threads, std::int64_t messages_each);

namespace detail {

/// A number that throws std::overflow_error if it overflows, so that equations can be written as
/// they are.
class Count {
public:
    Count(std::int64_t value) noexcept : value_(value) {}
    std::int64_t value() const noexcept { return value_; }

    friend Count operator+(Count a, Count b) {
        const bool over = __builtin_add_overflow(a.value_, b.value_, &a.value_);
        return a.unless(over);
    }
    friend Count operator-(Count a, Count b) {
        const bool over = __builtin_sub_overflow(a.value_, b.value_, &a.value_);
        return a.unless(over);
    }
    friend Count operator*(Count a, Count b) {
        const bool over = __builtin_mul_overflow(a.value_, b.value_, &a.value_);
        return a.unless(over);
    }

private:
    Count unless(bool over) const {
        if (over) throw std::overflow_error("a count exceeds 63 bits");
        return *this;
    }
    std::int64_t value_;
};

/// The sums that the three-dimensional equations are made of.
struct Sums {
    Count lengths, faces;  ///< of L_m, and of L_m L_n over m < n

    explicit Sums(const Decomposition& l)
        : lengths(Count(l[0]) + l[1] + l[2]),
          faces(Count(l[0]) * l[1] + Count(l[0]) * l[2] + Count(l[1]) * l[2]) {}
};

inline Count messages(Stencil stencil, const Decomposition& l) {
    switch (stencil) {
        case Stencil::five: return Count(2) * l[0] + Count(2) * l[1];
        case Stencil::nine: return Count(6) * l[0] + Count(6) * l[1] - 4;  // (2)
        case Stencil::seven: return Count(2) * Sums(l).faces;
        default: return Count(18) * Sums(l).faces - Count(12) * Sums(l).lengths + 8;  // (6)
    }
}

/// Returns equation 3 or 7, which hold if no dimension is 1: the threads at the boundary of the
/// process.
inline Count receiving_by_equation(const Decomposition& l) {
    if (l.size() == 2) return Count(2) * l[0] + Count(2) * l[1] - 4;   // (3)
    return Count(2) * Sums(l).faces - Count(4) * Sums(l).lengths + 8;  // (7)
}

inline Count all(const Decomposition& lengths) {
    Count product = 1;
    for (const std::int64_t length : lengths) product = product * length;
    return product;
}

inline Count sending(Stencil stencil, const Decomposition& l) {
    switch (stencil) {
        // Across an edge or a face each thread has one neighbour, and each neighbour has one of
        // them.
        case Stencil::five:
        case Stencil::seven: return messages(stencil, l);
        case Stencil::nine: return Count(2) * l[0] + Count(2) * l[1] + 4;           // (4)
        default: return Count(2) * Sums(l).faces + Count(4) * Sums(l).lengths + 8;  // (8)
    }
}

inline std::vector<Side> sides(Stencil stencil, const Decomposition& l) {
    const Count across = stencil == Stencil::nine ? 3 : stencil == Stencil::twenty_seven ? 9 : 1;
    if (l.size() == 2)
        return {{"x", (across * l[0]).value()}, {"y", (across * l[1]).value()}};  // (1)
    return {{"xy", (across * l[0] * l[1]).value()},                               // (5)
            {"xz", (across * l[0] * l[2]).value()},
            {"yz", (across * l[1] * l[2]).value()}};
}

inline std::string text_of(const Decomposition& lengths) {
    std::string text;
    for (const std::int64_t length : lengths) {
        if (!text.empty()) text += 'x';
        text += std::to_string(length);
    }
    return text;
}

inline void check(Stencil stencil, const Decomposition& lengths) {
    const std::size_t needed = dimensions(stencil);
    if (lengths.size() != needed)
        throw Refused("a stencil of " + std::to_string(neighbours(stencil) + 1) + " points has " +
                      std::to_string(needed) + " dimensions, and the decomposition " +
                      text_of(lengths) + " has " + std::to_string(lengths.size()));
    for (const std::int64_t length : lengths)
        if (length < 1)
            throw Refused("a dimension has 1 subdomain or more, not " + std::to_string(length));
}

/// Calls `count`, and names the argument that has too many subdomains or threads.
template <class Counting>
Exchange counted(const std::string& name, Counting&& count) try {
    return count();
} catch (const std::overflow_error&) {
    throw Refused(name + ": so many messages or threads that their number exceeds 63 bits");
}

inline std::int64_t length_of(std::string_view word, std::string_view whole) {
    std::int64_t length = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), length);
    if (error == std::errc::result_out_of_range)
        throw Refused("in " + std::string(whole) + ", " + std::string(word) +
                      " is too large a number");
    if (error != std::errc() || end != word.data() + word.size() || length < 1)
        throw Refused(
            "a decomposition is two or three whole numbers from 1, such as 32x32 or 8x8x4, not '" +
            std::string(whole) + "'");
    return length;
}

}  // namespace detail

inline Stencil stencil_of(std::int64_t points) {
    for (const Stencil one : {Stencil::five, Stencil::nine, Stencil::seven, Stencil::twenty_seven})
        if (points == neighbours(one) + 1) return one;
    throw Refused("a stencil has 5 or 9 points in two dimensions, 7 or 27 in three, not " +
                  std::to_string(points));
}

inline Decomposition decomposition_of(std::string_view text) {
    Decomposition lengths;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t cross = std::min(text.find('x', at), text.size());
        lengths.push_back(detail::length_of(text.substr(at, cross - at), text));
        at = cross + 1;
    }
    if (lengths.size() < 2 || lengths.size() > 3)
        throw Refused("a decomposition has two or three dimensions, and " + std::string(text) +
                      " has " + std::to_string(lengths.size()));
    return lengths;
}

inline Exchange exchange(Stencil stencil, const Decomposition& lengths) {
    detail::check(stencil, lengths);
    return detail::counted(detail::text_of(lengths), [&]() -> Exchange {
        const bool by_equation = std::ranges::min(lengths) >= 2;
        const detail::Count receiving =
            by_equation ? detail::receiving_by_equation(lengths) : detail::all(lengths);
        return {detail::messages(stencil, lengths).value(), receiving.value(),
                detail::sending(stencil, lengths).value(), detail::sides(stencil, lengths),
                by_equation};
    });
}

inline Exchange naive_exchange(std::int64_t threads, std::int64_t messages_each) {
    if (threads < 1)
        throw Refused("there must be 1 thread or more, not " + std::to_string(threads));
    if (messages_each < 1)
        throw Refused("a thread has 1 message or more, not " + std::to_string(messages_each));
    return detail::counted(
        std::to_string(threads) + " threads with " + std::to_string(messages_each) +
            " messages each",
        [&]() -> Exchange {
            return {(detail::Count(threads) * messages_each).value(), threads, threads, {}, false};
        });
}

}  // namespace heddle::stencil

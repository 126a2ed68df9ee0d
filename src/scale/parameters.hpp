// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Parameters of the extended LogP model (P5), which predicts times of messages.
///
/// Overheads grow with the length of a message. Latency and gap for each byte are in one curve, as
/// `heddle logp` measures them (bench/laboratory/logp.py). Times are in us, lengths in bytes.

#include <cstdint>
#include <istream>
#include <string>
#include <utility>
#include <vector>

namespace heddle::scale {

/// A function that is linear between its points, of which there is at least one. It is constant
/// before the first, and goes straight on after the last.
class Curve {
public:
    using Points = std::vector<std::pair<double, double>>;  ///< (bytes, us), ascending

    explicit Curve(Points points) : points_(std::move(points)) {}
    double at(std::uint64_t bytes) const noexcept;
    const Points& points() const noexcept { return points_; }

private:
    Points points_;
};

/// Messages between two ranks, at the distance of the measured ones.
struct Link {
    Curve way;       ///< half a round trip: overheads, latency, and the gaps of all bytes
    Curve o_s, o_r;  ///< processor time of a message at its sender, and at its receiver
    double byte_us;  ///< G of many messages: time of a node's network for each byte
    std::uint64_t most_copied;  ///< a longer message is announced, and leaves when its receive
                                ///< has been answered
    double switch_us;  ///< until a rank runs on a core that it shares with one at this distance

    bool copies(std::uint64_t bytes) const noexcept { return bytes <= most_copied; }
    /// Returns the time of the announcement of a long message and of its answer. `way` of a long
    /// message includes both.
    double handshake() const noexcept { return 2 * way.at(0); }
    /// Returns the time from the end of the sender's overhead until the receiver's can begin. It is
    /// below 0 if the message arrives while it is sent, or is taken while it arrives.
    double latency(std::uint64_t bytes) const noexcept {
        return way.at(bytes) - (copies(bytes) ? 0 : handshake()) - o_s.at(bytes) - o_r.at(bytes);
    }
};

struct Parameters {
    Link within;              ///< within a node
    Link between;             ///< between nodes
    double signal_us;         ///< until a store in shared memory is seen
    double copied_byte_us;    ///< for a copy
    double combined_byte_us;  ///< for an operand that is combined with another one
    double step_us;           ///< for any step, beside these
    std::string source;       ///< the source of these numbers, in words
};

/// Returns parameters as measured where the text says, for programs without measurements of their
/// own.
Parameters default_parameters();

/// Replaces those in a file of `heddle logp --parameters`, for messages between nodes, or within
/// one. Throws std::runtime_error that names the line.
void read_parameters(std::istream& file, const std::string& name, Link& link, Parameters& all);

}  // namespace heddle::scale

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Parameters of the extended LogP model (P5), by which times of messages are predicted.
///
/// Overheads grow with the length of a message, and latency and gap for each byte are in one curve, as `heddle logp` measures
/// them (bench/laboratory/logp.py). Times are in us, lengths in bytes.

#include <cstdint>
#include <istream>
#include <string>
#include <utility>
#include <vector>

namespace heddle::scale {

/// Linear between its points, of which there is one at least; constant before the first, and straight on after the last.
class Curve {
public:
    using Points = std::vector<std::pair<double, double>>;  ///< (bytes, us), ascending

    explicit Curve(Points points) : points_(std::move(points)) {}
    double at(std::uint64_t bytes) const noexcept;
    const Points& points() const noexcept { return points_; }

private:
    Points points_;
};

/// Messages between two ranks that are as far from each other as those that were measured.
struct Link {
    Curve way;  ///< half a round trip: overheads, latency, and the gaps of all bytes
    Curve
        overhead;  ///< for which a message keeps its sender's processor, and again its receiver's: o_s and o_r
    double byte_us;             ///< G of many messages: of the network of a node, for each byte
    std::uint64_t most_copied;  ///< longer messages leave when their receives are posted

    /// From the end of the sender's overhead until the receiver's can begin. Below 0 where a long message is taken while it
    /// comes.
    double latency(std::uint64_t bytes) const noexcept {
        return way.at(bytes) - 2 * overhead.at(bytes);
    }
};

struct Parameters {
    Link within;              ///< a node
    Link between;             ///< nodes
    double signal_us;         ///< until a store in memory that ranks share is seen
    double copied_byte_us;    ///< of a copy
    double combined_byte_us;  ///< of an operand that is combined with another one
    double step_us;           ///< of any step, beside these
    double switch_us;         ///< where ranks share a core: until another one runs on it
    std::string source;       ///< where they come from, in words
};

/// As measured where the text says; for programs without measurements of their own.
Parameters default_parameters();

/// Replaces those that a file of `heddle logp --parameters` has, of messages between nodes, or within one. Throws
/// std::runtime_error that names the line.
void read_parameters(std::istream& file, const std::string& name, Link& link, Parameters& all);

}  // namespace heddle::scale

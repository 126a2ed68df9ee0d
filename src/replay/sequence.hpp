// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A recording made ready to be replayed. Every operation knows the objects that it needs and must
/// find. A replay thus measures only matching, and notices an engine that matches wrongly.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "replay/reader.hpp"

namespace heddle::replay {

/// The index of a receive, or of an unexpected message. Slots are reused as in a library.
using Slot = std::uint32_t;
inline constexpr Slot nothing = ~Slot{0};

struct Operation {
    match::Envelope envelope;
    Step step;
    Slot own;    ///< the receive that is posted or cancelled, or the message if it is unexpected
    Slot other;  ///< the message that a post or probe gets, the receive that a message gets, or
                 ///< nothing
};

/// The contents of a recording.
struct Summary {
    std::uint64_t posts = 0, any_source = 0, any_tag = 0;
    std::uint64_t arrivals = 0, unexpected = 0, cancelled = 0, taken = 0;
    std::size_t most_posted = 0, most_unexpected = 0;  ///< at one time
    /// The number of events that are not replayed. A receive or probe with MPI_ANY_TAG looks for
    /// the message that was sent first. That need not be the one that was matched first. The
    /// message that it left may then be missing for another event that names it.
    std::uint64_t left_out = 0;
};

class Sequence {
public:
    /// Throws std::runtime_error that names the event at which the recording contradicts itself.
    /// Such an event cancels a receive that is not posted, or a probe takes a message that has not
    /// come. Once MPI_ANY_TAG was used, such an event is left out.
    explicit Sequence(const Recorded& recorded);

    const std::vector<Operation>& operations() const noexcept { return operations_; }
    const Summary& summary() const noexcept { return summary_; }
    std::size_t receives() const noexcept { return receives_; }  ///< number of slots
    std::size_t messages() const noexcept { return messages_; }

private:
    friend class Preparation;

    std::vector<Operation> operations_;
    Summary summary_;
    std::size_t receives_ = 0, messages_ = 0;
};

}  // namespace heddle::replay

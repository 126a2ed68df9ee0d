// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A collective access with aggregators on one node: data go through windows that all processes map, messages say only
/// what is there.
///
/// Writing        a process copies its data of the next window to where it belongs, and tells the aggregator which bytes
///                those are; then it writes the window before, if it is an aggregator itself. An aggregator that has written a
///                window tells those that have data for the one after the next, which lies in the same memory.
/// Reading        an aggregator that has been told by all reads, and tells them; they copy, and say when they are done.
/// One copy       from the program's memory to the window, if it lies side by side there. The other is the system's.

#include <array>

#include "io/phases.hpp"
#include "io/shared_windows.hpp"

namespace heddle::io {

class NodePhases : Phases {
public:
    /// `memory` has what the access needs, and is this access's.
    NodePhases(const Joint& joint, const SharedWindows& memory, Workplace& place) noexcept;
    Failure run();

private:
    static constexpr auto turns = static_cast<std::size_t>(SharedWindows::turns);
    static_assert(turns == 2, "parcels() are of two windows");

    Messages& sent(std::int64_t i) noexcept { return sent_[static_cast<std::size_t>(i) % turns]; }
    Window there(std::int32_t domain, std::int64_t i) const noexcept;
    /// Those that have a window in common with this process as its aggregator, or that are aggregators of its own.
    template <class Visit>
    void each_domain(std::int64_t i, Visit visit);
    /// Empty messages.
    void tell(const Span& span, std::int32_t message);
    void hear(const Span& span, std::int32_t message);
    void make_parcels(std::int64_t i);

    void write_all();
    void wait_for_room(std::int64_t i);
    void put(std::int64_t i);
    void aggregate_writes(std::int64_t i);

    void read_all();
    void aggregate_reads(std::int64_t i);
    void get(std::int64_t i);

    const SharedWindows& memory_;
    std::array<Messages, turns> sent_;
};

}  // namespace heddle::io

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A collective access with aggregators on one node. Data go through windows that all processes
/// map, and messages only say which data are there.
///
/// Writing        a process copies its data of the next window to their places, and tells the
///                aggregator which bytes those are. If it is an aggregator itself, it then writes
///                the window before. After that, it notifies the processes with data for the window
///                after the next, which lies in the same memory.
/// Reading        an aggregator reads when all have told it their bytes, and notifies them. They
///                copy, and say when they are done.
/// One copy       from the program's memory to the window, if the data lie side by side there. The
///                other copy is the system's.

#include <array>

#include "io/phases.hpp"
#include "io/shared_windows.hpp"

namespace heddle::io {

class NodePhases : Phases {
public:
    /// `memory` has room for the access, and belongs to this access.
    NodePhases(const Joint& joint, const SharedWindows& memory, Workplace& place) noexcept;
    Failure run();

private:
    static constexpr auto turns = static_cast<std::size_t>(SharedWindows::turns);
    static_assert(turns == 2, "parcels() are of two windows");

    Messages& sent(std::int64_t i) noexcept { return sent_[static_cast<std::size_t>(i) % turns]; }
    Window there(std::int32_t domain, std::int64_t i) const noexcept;
    /// Calls visit(domain, parcel) for each domain whose i-th window has data of this process.
    template <class Visit>
    void each_domain(std::int64_t i, Visit visit);
    /// Send and receive empty messages.
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

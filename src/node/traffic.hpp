// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages that a rank exchanges with ranks of other hosts, counted on its page (node/board.hpp).
/// If all threads of all ranks sleep and the sums are equal, nothing is under way between hosts
/// (docs/adr/0066-verdicts-on-several-hosts.md). A rank that has ended takes no more messages, so
/// sums are made for each group of receivers.
///
/// Counted        each message, each piece of one and each read of remote memory. The thread that
///                begins it counts it as sent. It counts as taken once all that it changes has been
///                changed. A read counts as sent to its reader, which takes it. Processes of other
///                jobs are left out.
/// Writers        threads of the rank that hold its lane's lock, and for `sent_in_queue` the lock
///                of its queues.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "node/board.hpp"

namespace heddle::node {

inline constexpr std::size_t traffic_groups = 64;

/// Returns the group of a rank of MPI_COMM_WORLD.
inline constexpr std::size_t traffic_group(std::int32_t rank) noexcept {
    return static_cast<std::size_t>(rank) % traffic_groups;
}

struct alignas(64) Traffic {
    std::atomic<std::uint64_t> is_counted;  ///< 0: this rank does not count
    std::atomic<std::uint64_t> taken;
    std::atomic<std::uint64_t> sent[traffic_groups];           ///< by the receiver's group
    std::atomic<std::uint64_t> sent_in_queue[traffic_groups];  ///< likewise
};
static_assert(sizeof(Page) + sizeof(Traffic) <= board_page_bytes);

/// Attached::of_library of a thread whose messages are counted here. It may wake between two looks,
/// as it does to answer whether this process is there.
inline constexpr std::uint32_t of_library_and_counted = 2;

/// Returns the counts at the end of the page.
inline Traffic& traffic_of(Page& page) noexcept {
    return *reinterpret_cast<Traffic*>(reinterpret_cast<std::byte*>(&page) + board_page_bytes -
                                       sizeof(Traffic));
}
inline const Traffic& traffic_of(const Page& page) noexcept {
    return traffic_of(const_cast<Page&>(page));
}

}  // namespace heddle::node

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The layout of a node's memory: the board, a mailbox for each process, the rings, stages, rings
/// of payload, and segments.
///
/// The number of processes determines each address, so that processes need to exchange nothing. A
/// process may be written to before it has started. All memory starts as zeroes, which is a valid
/// state of everything in it. Pages that no process touches do not exist.

#include <algorithm>
#include <cstddef>

#include "node/blocked_notice.hpp"
#include "node/board.hpp"
#include "node/mailboxes.hpp"
#include "node/offers.hpp"
#include "node/payload_ring.hpp"
#include "node/ring.hpp"
#include "node/segments.hpp"
#include "node/shared_copy.hpp"
#include "node/sizes.hpp"
#include "node/stages.hpp"

namespace heddle::node {

inline constexpr std::size_t shared_copies_each = 8;  ///< copies to one process at a time
inline constexpr std::size_t most_processes = 4096;
inline constexpr std::size_t most_payload_rings = 512;  ///< of all processes, unless they are more
inline constexpr std::size_t most_payload_rings_each = 64;
/// Bytes of the file for segments. They are so many that freed addresses need not be found again
/// one by one. Once no segment is left, addresses are used from the start.
inline constexpr std::size_t segments_bytes = std::size_t{1} << 60;

/// Offsets of everything in the memory of a number of processes.
struct Layout {
    std::size_t instances, source_words, mailbox_bytes;
    /// Offsets in the head.
    std::size_t mailboxes, shared_copies, stage_board, segment_board;
    /// Offset of the blocks, one for each pair of processes; those to one process lie in a row.
    std::size_t rings;
    /// Size of a block: the cells of its rings, the notice, their controls and offers.
    std::size_t pair_bytes;
    std::size_t notice, controls, offers;  ///< offsets in a block
    /// Offset of the stages.
    std::size_t stages;
    /// Offset of the rings of payload. Those of one process lie in a row; segments follow the last
    /// one.
    std::size_t payload_rings;

    static constexpr Layout of(std::size_t processes) noexcept;
    /// Returns the size with so many stages, and so many rings of payload if these are all.
    constexpr std::size_t bytes(std::size_t number_of_stages,
                                std::size_t number_of_rings = 0) const noexcept {
        return stages + number_of_stages * stage_bytes + number_of_rings * sizeof(PayloadRing);
    }
    /// Returns the offset of segments, behind all stages and rings of payload that there can be.
    constexpr std::size_t segments(std::size_t processes) const noexcept {
        const std::size_t end = bytes(most_stages, processes * payload_rings_each(processes));
        return (end + page_bytes - 1) / page_bytes * page_bytes;
    }
    /// Returns how many bytes are of use in a file that may have `room` bytes.
    static constexpr std::size_t most_bytes(std::size_t processes, std::size_t room) noexcept;
    /// The parts of a file of a given size. If it is short of room, segments get a quarter of what
    /// rings leave. The rest goes to stages first, then to the same number of rings of payload for
    /// each process.
    struct Division {
        std::size_t stages, payload_rings_each;
        std::size_t segments;  ///< their offset; the file ends with them
    };
    constexpr Division divide(std::size_t processes, std::size_t bytes) const noexcept;
    static constexpr std::size_t payload_rings_each(std::size_t processes) noexcept {
        return std::clamp(most_payload_rings / processes, std::size_t{1}, most_payload_rings_each);
    }
};

constexpr Layout Layout::of(std::size_t processes) noexcept {
    constexpr auto rounded = [](std::size_t bytes) {
        return (bytes + page_bytes - 1) / page_bytes * page_bytes;
    };
    Layout layout{};
    // Rings grow with the square of the processes. So each process has fewer instances when there
    // are many. Up to 1,740 processes that keeps the size of the memory below a hundred gigabytes.
    // (Less of it is touched, or mapped by one process.)
    layout.instances = most_instances;
    while (layout.instances > 1 && processes * processes * layout.instances > std::size_t{1} << 21)
        layout.instances /= 2;
    layout.source_words = (processes + 63) / 64;
    layout.mailboxes = node::board_bytes(processes);
    layout.mailbox_bytes = rounded(sizeof(Mailbox) + layout.instances * layout.source_words * 8);
    layout.shared_copies = layout.mailboxes + processes * layout.mailbox_bytes;
    layout.stage_board =
        layout.shared_copies + rounded(processes * shared_copies_each * sizeof(SharedCopy));
    layout.segment_board = layout.stage_board + rounded(sizeof(StageBoard));
    layout.rings = layout.segment_board + rounded(sizeof(SegmentBoard));
    // Cells come first, so that each ring has pages of its own.
    layout.notice = layout.instances * ring_pages * page_bytes;
    layout.controls = layout.notice + sizeof(BlockedNotice);
    layout.offers = layout.controls + layout.instances * sizeof(Control);
    layout.pair_bytes = rounded(layout.offers + layout.instances * sizeof(RingOffers));
    layout.stages = layout.rings + processes * processes * layout.pair_bytes;
    layout.payload_rings = layout.bytes(most_stages);
    return layout;
}

constexpr std::size_t Layout::most_bytes(std::size_t processes, std::size_t room) noexcept {
    return std::min(room, of(processes).segments(processes) + segments_bytes);
}

constexpr Layout::Division Layout::divide(std::size_t processes,
                                          std::size_t file_bytes) const noexcept {
    const std::size_t all = segments(processes);
    if (file_bytes > all) return {most_stages, payload_rings_each(processes), all};
    const auto fit = [](std::size_t begin, std::size_t end, std::size_t each) {
        return end <= begin ? 0 : (end - begin) / each;
    };
    const std::size_t room = (file_bytes - stages) / 4 * 3 / page_bytes * page_bytes;
    const std::size_t end = stages + room;
    return {
        std::min(most_stages, fit(stages, end, stage_bytes)),
        std::min(payload_rings_each(processes),
                 fit(payload_rings, end, processes * sizeof(PayloadRing))),
        end,
    };
}

}  // namespace heddle::node

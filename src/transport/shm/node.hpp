// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The shared memory of a node: the board, a mailbox for each process, the rings, stages, rings of payload,
/// and segments.
///
/// Everything stands at a place computed from the number of processes, so that nothing needs to be
/// exchanged and a process may be written to before it has started. All memory starts as zeroes,
/// which is a valid state of everything in it; pages that nobody touches do not exist.
///
/// Address space  grows with what a process uses: everybody maps the head (board, mailboxes, and so on) and the
///                rings to itself, rings to another process when it first sends there, and a stage or a ring
///                of payload when it takes part in it. Where addresses are limited, all rings are mapped at once, so that what
///                does not fit is known when MPI is initialized.
/// Segments       pieces of the memory for whatever several processes want to share: the file has addresses for
///                far more of them than any machine has memory. Whoever takes one tells the others, who map it;
///                each user unmaps it before whoever took it gives it back. A file that may not be large has a
///                part for them, too.
/// Thread safety  reach(), stage(), payload_ring(), further offers and segments from any thread; map_rings() and unmap() from one, while no other
///                uses rings or stages.
/// Errors         map() answers an empty Node, reach() and map_rings() false, map_segment() nullptr, and
///                errno says why.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "launch/board.hpp"
#include "platform/memory.hpp"
#include "sync/parking.hpp"
#include "transport/shm/blocked_notice.hpp"
#include "transport/shm/context_use.hpp"
#include "transport/shm/offers.hpp"
#include "transport/shm/payload_ring.hpp"
#include "transport/shm/ring.hpp"
#include "transport/shm/shared_copy.hpp"

namespace heddle::transport::shm {

inline constexpr std::size_t most_instances = 64;  ///< one bit each in Mailbox::rung
inline constexpr std::size_t shared_copies = 8;    ///< to one process at a time
inline constexpr std::size_t most_processes = 4096;
inline constexpr std::size_t stages = 64;  ///< one bit each in StageBoard::used
/// Of these, pages that nobody touches do not exist.
inline constexpr std::size_t stage_bytes = (6 << 20) + (64 << 10);
inline constexpr std::size_t most_payload_rings = 512;  ///< of all processes, unless they are more
inline constexpr std::size_t most_payload_rings_each = 64;
/// Of the file, for segments. It is so large that addresses need not be found again one by one: they are used
/// from the start once no segment is left.
inline constexpr std::size_t segments_bytes = std::size_t{1} << 60;

/// Where other processes announce what is not polled.
struct Mailbox {
    alignas(cache_line) sync::Doorbell bell;
    /// Instances with something to look at in a cold ring, or with room for a starving producer.
    alignas(cache_line) std::atomic<std::uint64_t> rung;
    /// 1: a message that this process watches for is not blocked any more (transport/shm/blocked_notice.hpp).
    std::atomic<std::uint32_t> withdrawn;
    /// `pressure` while the process asks senders to keep payloads to themselves, or 0.
    alignas(cache_line) std::atomic<std::uint64_t> under_pressure;
    /// A digest of which cores the process may run on; 0: not known yet.
    std::atomic<std::uint64_t> cores;
    /// Instances at which threads of the process wait, and offer their cores meanwhile: a hint (progress/wait.hpp).
    alignas(cache_line) std::atomic<std::uint64_t> waits;
    /// Of the library's thread that carries large messages while the program computes (p2p/node_worker.hpp).
    alignas(cache_line) sync::Doorbell worker;
    /// By which instances messages come here.
    ContextUse use;
};

/// Stages: memory in which several processes work on the same data. Whoever takes one for all of them tells
/// the others; it is free again when each of them has left it.
struct StageBoard {
    std::atomic<std::uint64_t> used;
    std::atomic<std::uint32_t> users[stages];
};

/// Which part of the file is taken for segments: their number in the low 16 bits, and the page above the
/// last one. One word, so that nobody who dies can leave it half changed. The last one gives its place back.
struct SegmentBoard {
    std::atomic<std::uint64_t> taken;
};

/// A piece of the file; no bytes: none.
struct Segment {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    explicit operator bool() const noexcept { return bytes != 0; }
};

/// Memory of stage_bytes: a stage, or where all are in use, a segment. Neither: none.
struct Stage {
    std::int32_t number = -1;
    Segment segment;
    explicit operator bool() const noexcept { return number >= 0 || segment; }
};

/// Where everything stands in the memory of so many processes.
struct Layout {
    std::size_t instances, source_words, mailbox_bytes;
    std::size_t mailboxes, shared_copies, stage_board,
        segment_board;  ///< where they begin, in the head
    std::size_t rings;  ///< where a block for each pair of processes begins, those to one in a row
    std::size_t
        pair_bytes;  ///< of such a block: the cells of its rings, the notice, their controls and offers
    std::size_t notice, controls, offers;  ///< where they begin, in such a block
    std::size_t stages;                    ///< where they begin
    std::size_t
        payload_rings;  ///< where they begin, those of one process in a row; segments follow the last one

    static constexpr Layout of(std::size_t processes) noexcept;
    /// With so many stages, and so many rings of payload if these are all.
    constexpr std::size_t bytes(std::size_t number_of_stages,
                                std::size_t number_of_rings = 0) const noexcept {
        return stages + number_of_stages * stage_bytes + number_of_rings * sizeof(PayloadRing);
    }
    /// Where segments begin, behind all stages and rings of payload that there can be.
    constexpr std::size_t segments(std::size_t processes) const noexcept {
        const std::size_t end = bytes(shm::stages, processes * payload_rings_each(processes));
        return (end + page_bytes - 1) / page_bytes * page_bytes;
    }
    /// Of a file that may have `room` bytes, how many are of use.
    static constexpr std::size_t most_bytes(std::size_t processes, std::size_t room) noexcept;
    /// What there is in a file of so many bytes. Where it is short of room, segments get a quarter of what rings
    /// leave, and of the rest there are stages first, then the same number of rings of payload for each process.
    struct Division {
        std::size_t stages, payload_rings_each;
        std::size_t segments;  ///< where they begin; the file ends with them
    };
    constexpr Division divide(std::size_t processes, std::size_t bytes) const noexcept;
    static constexpr std::size_t payload_rings_each(std::size_t processes) noexcept {
        return std::clamp(most_payload_rings / processes, std::size_t{1}, most_payload_rings_each);
    }
};

class Node {
public:
    /// Maps the head of the memory of `processes` processes behind `descriptor` (launch/node_file.hpp), which
    /// has all stages, or as many as there was room for when it was made. The descriptor must stay open.
    static std::optional<Node> map(int descriptor, std::size_t processes);
    /// The same with all rings, for processes in one address space.
    static std::optional<Node> map_all(int descriptor, std::size_t processes);

    /// Maps the rings to process `me`; `outgoing`: its rings to the others, too.
    bool map_rings(std::size_t me, bool outgoing);
    /// Maps the rings from one process to another unless they are.
    bool reach(std::size_t from, std::size_t to) const;
    /// Unmaps everything but the head.
    void unmap() noexcept;

    std::size_t processes() const noexcept { return processes_; }
    /// Instances of each process: a power of two, the same for all.
    std::size_t instances() const noexcept { return layout_.instances; }

    /// Of the memory.
    const launch::Token& token() const noexcept {
        return static_cast<const launch::Header*>(head_->address())->token;
    }
    launch::Page& page(std::size_t process) const noexcept {
        return launch::board_page(head_->address(), process);
    }
    /// Whether that process asks senders to keep payloads until they are matched (p2p/pressure.hpp).
    bool is_under_pressure(std::int32_t process) const noexcept {
        return mailbox(static_cast<std::size_t>(process)).under_pressure.load(relaxed) != 0;
    }
    Mailbox& mailbox(std::size_t process) const noexcept {
        return *reinterpret_cast<Mailbox*>(at(layout_.mailboxes) + process * layout_.mailbox_bytes);
    }
    /// Processes whose ring into `instance` of `process` is worth a look, 64 in a word.
    std::atomic<std::uint64_t>& rung_sources(std::size_t process, std::size_t instance,
                                             std::size_t word) const noexcept {
        auto* words = reinterpret_cast<std::atomic<std::uint64_t>*>(
            at(layout_.mailboxes) + process * layout_.mailbox_bytes + sizeof(Mailbox));
        return words[instance * layout_.source_words + word];
    }
    std::size_t source_words() const noexcept { return layout_.source_words; }
    /// Written by `from` for `to`. It stands with the rings, which are mapped.
    BlockedNotice& blocked_notice(std::size_t from, std::size_t to) const noexcept {
        return *reinterpret_cast<BlockedNotice*>(rings(from, to) + layout_.notice);
    }
    /// Likewise, of a ring.
    Offers& offers(std::size_t from, std::size_t to, std::size_t instance) const noexcept {
        return ring_offers(from, to, instance).own;
    }
    /// Further ones, from block 1 on, mapped with the first call; nullptr if they cannot be.
    FurtherOffers* further_offers(std::size_t from, std::size_t to, std::size_t instance,
                                  std::size_t block) const noexcept;
    /// What `use` answers when it is given that block, which is mapped; 0: the ring's own.
    template <class Use>
    auto with_offers(std::size_t from, std::size_t to, std::size_t instance, std::size_t block,
                     Use&& use) const noexcept {
        if (block == 0) [[likely]]
            return use(offers(from, to, instance));
        return use(*further_offers(from, to, instance, block));
    }
    /// Sender: makes that block. False: the file has no room for it, or it cannot be mapped.
    bool add_offers(std::size_t from, std::size_t to, std::size_t instance,
                    std::size_t block) const noexcept;
    /// Maps all blocks that there are; false if one cannot be.
    bool reach_offers(std::size_t from, std::size_t to, std::size_t instance) const noexcept;

    /// Of messages to `process`.
    SharedCopy& shared_copy(std::size_t process, std::size_t number) const noexcept {
        return reinterpret_cast<SharedCopy*>(
            at(layout_.shared_copies))[process * shared_copies + number];
    }

    /// One for so many processes; none: all are in use, and the file has no room for a segment. Throws std::bad_alloc.
    Stage take_stage(std::uint32_t users) const;
    /// Its memory, mapped with the first call, or as long as `mapping` is there; nullptr if it cannot be.
    std::byte* map_stage(const Stage& stage,
                         std::shared_ptr<const platform::Mapping>& mapping) const;
    /// By each of the processes, which has `memory` mapped.
    void leave_stage(const Stage& stage, std::byte* memory) const noexcept;
    /// By each of them, when not all have been able to map it; `taker`: by who has taken it.
    void give_stage_up(const Stage& stage, bool taker) const noexcept;

    /// Rings of payload that each process has to send by.
    std::size_t payload_rings_each() const noexcept { return payload_rings_; }
    /// One of them, mapped with the first call; nullptr if it cannot be.
    PayloadRing* payload_ring(std::size_t owner, std::size_t number) const;
    /// How large the file would be with all that there can be, and a segment of so many bytes.
    std::size_t bytes_with_segment(std::uint64_t bytes) const noexcept;
    /// A segment of so many bytes, rounded up to pages of zeroes; none if the file has no room for it.
    Segment take_segment(std::uint64_t bytes) const noexcept;
    /// Whether one leaves at least half of the room, and of the number of segments that there can be, to others.
    bool can_spare_segment(std::uint64_t bytes) const noexcept;
    /// It is not mapped any more, or not used.
    void give_segment(const Segment& segment) const noexcept;
    /// Processes in one address space share the mapping, so that a race detector sees all sides. Throws std::bad_alloc.
    std::shared_ptr<const platform::Mapping> map_segment(const Segment& segment) const;

    /// Both ends of a ring that is mapped.
    void bind(Producer& producer, std::size_t from, std::size_t to,
              std::size_t instance) const noexcept {
        std::byte* pair = rings(from, to);
        producer.bind(control(pair, instance), cells(pair, instance));
    }
    void bind(Consumer& consumer, std::size_t from, std::size_t to,
              std::size_t instance) const noexcept {
        std::byte* pair = rings(from, to);
        consumer.bind(control(pair, instance), cells(pair, instance), mailbox(to).under_pressure);
    }

    /// These pages of a ring, whose producer says that they are idle, go back; zeroes come in their place. False:
    /// they cannot, or not all of them.
    bool drop_pages(std::size_t from, std::size_t to, std::size_t instance,
                    RingPages pages) const noexcept;

    /// Makes `to` look at its ring from `from`: sets the bits and rings the bell.
    void notify(std::size_t from, std::size_t to, std::size_t instance) const noexcept;
    /// Makes `to` ask again what is blocked.
    void notify_withdrawn(std::size_t to) const noexcept;

private:
    /// What is mapped besides the head. Copies of a Node share it.
    struct Pieces {
        std::mutex lock;
        platform::SharedObject object;
        platform::Mapping all;       ///< rings of all pairs; or
        platform::Mapping incoming;  ///< those to one process, and
        std::size_t me = 0;
        std::vector<platform::Mapping> outgoing;  ///< those from it, by receiver
        platform::Mapping stages[shm::stages];
        std::vector<platform::Mapping> payload_rings;  ///< by owner and number
        /// By where they begin, as long as they are mapped; only of processes in one address space.
        std::map<std::uint64_t, std::weak_ptr<const platform::Mapping>> segments;
        std::mutex offers_lock;
        /// By place.
        std::unordered_map<std::uint64_t, std::shared_ptr<const platform::Mapping>> further_offers;
    };

    Node() = default;
    std::byte* at(std::size_t offset) const noexcept {
        return static_cast<std::byte*>(head_->address()) + offset;
    }
    std::size_t offset_of(std::size_t from, std::size_t to) const noexcept {
        return (to * processes_ + from) * layout_.pair_bytes;
    }
    /// The block of this pair, which is mapped.
    std::byte* rings(std::size_t from, std::size_t to) const noexcept {
        const Pieces& pieces = *pieces_;
        const auto begin = [](const platform::Mapping& mapping) {
            return static_cast<std::byte*>(mapping.address());
        };
        if (pieces.all) return begin(pieces.all) + offset_of(from, to);
        if (to == pieces.me) return begin(pieces.incoming) + from * layout_.pair_bytes;
        return begin(pieces.outgoing[to]);
    }
    Control& control(std::byte* pair, std::size_t instance) const noexcept {
        return reinterpret_cast<Control*>(pair + layout_.controls)[instance];
    }
    static Cell* cells(std::byte* pair, std::size_t instance) noexcept {
        return reinterpret_cast<Cell*>(pair) + instance * ring_slots;
    }
    RingOffers& ring_offers(std::size_t from, std::size_t to, std::size_t instance) const noexcept {
        return reinterpret_cast<RingOffers*>(rings(from, to) + layout_.offers)[instance];
    }
    FurtherOffers* map_offers(std::uint64_t place) const noexcept;
    std::int32_t take_numbered_stage(std::uint32_t users) const noexcept;
    void leave_numbered_stage(std::int32_t number) const noexcept;
    std::byte* map_numbered_stage(std::int32_t number) const;
    StageBoard& stage_board() const noexcept {
        return *reinterpret_cast<StageBoard*>(at(layout_.stage_board));
    }
    SegmentBoard& segment_board() const noexcept {
        return *reinterpret_cast<SegmentBoard*>(at(layout_.segment_board));
    }

    std::shared_ptr<platform::Mapping> head_;  ///< shared by copies of this object
    std::shared_ptr<Pieces> pieces_;
    std::size_t processes_ = 0;
    std::size_t stages_ = 0;         ///< that there are
    std::size_t payload_rings_ = 0;  ///< that each process has
    std::size_t segments_ = 0;       ///< where they begin
    std::size_t segments_end_ = 0;
    Layout layout_{};
};

constexpr Layout Layout::of(std::size_t processes) noexcept {
    constexpr auto rounded = [](std::size_t bytes) {
        return (bytes + page_bytes - 1) / page_bytes * page_bytes;
    };
    Layout layout{};
    // Rings grow with the square of the processes. Fewer instances for many processes keep the size of the
    // memory (not what is touched of it, or mapped by one process) below a hundred gigabytes, up to 1,740 processes.
    layout.instances = most_instances;
    while (layout.instances > 1 && processes * processes * layout.instances > std::size_t{1} << 21)
        layout.instances /= 2;
    layout.source_words = (processes + 63) / 64;
    layout.mailboxes = launch::board_bytes(processes);
    layout.mailbox_bytes = rounded(sizeof(Mailbox) + layout.instances * layout.source_words * 8);
    layout.shared_copies = layout.mailboxes + processes * layout.mailbox_bytes;
    layout.stage_board =
        layout.shared_copies + rounded(processes * shm::shared_copies * sizeof(SharedCopy));
    layout.segment_board = layout.stage_board + rounded(sizeof(StageBoard));
    layout.rings = layout.segment_board + rounded(sizeof(SegmentBoard));
    // Cells come first, so that each ring has pages of its own.
    layout.notice = layout.instances * ring_pages * page_bytes;
    layout.controls = layout.notice + sizeof(BlockedNotice);
    layout.offers = layout.controls + layout.instances * sizeof(Control);
    layout.pair_bytes = rounded(layout.offers + layout.instances * sizeof(RingOffers));
    layout.stages = layout.rings + processes * processes * layout.pair_bytes;
    layout.payload_rings = layout.bytes(shm::stages);
    return layout;
}

constexpr std::size_t Layout::most_bytes(std::size_t processes, std::size_t room) noexcept {
    return std::min(room, of(processes).segments(processes) + segments_bytes);
}

constexpr Layout::Division Layout::divide(std::size_t processes,
                                          std::size_t file_bytes) const noexcept {
    const std::size_t all = segments(processes);
    if (file_bytes > all) return {shm::stages, payload_rings_each(processes), all};
    const auto fit = [](std::size_t begin, std::size_t end, std::size_t each) {
        return end <= begin ? 0 : (end - begin) / each;
    };
    const std::size_t room = (file_bytes - stages) / 4 * 3 / page_bytes * page_bytes;
    const std::size_t end = stages + room;
    return {
        std::min(shm::stages, fit(stages, end, stage_bytes)),
        std::min(payload_rings_each(processes),
                 fit(payload_rings, end, processes * sizeof(PayloadRing))),
        end,
    };
}

}  // namespace heddle::transport::shm

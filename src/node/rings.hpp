// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Rings: the paths of messages from each process of the node to each other one. Beside a ring
/// there are notices of blocked messages, offers, rings of payload, and copies that two processes
/// share.
/// Address space  every process maps the rings to itself. It maps rings to another process when it
///                first sends there. It maps a ring of payload when it takes part in it. If
///                addresses are limited, all rings are mapped at once. So a process knows when MPI
///                is initialized whether they fit.
/// Thread safety  reach(), payload_ring() and further offers from any thread. map() and unmap()
///                from one thread, while no other uses rings.
/// Errors         map() and reach() return false, payload_ring() nullptr, and errno says why.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "node/layout.hpp"
#include "platform/memory.hpp"

namespace heddle::node {

class Rings {
public:
    /// `head`: start of the memory, which is mapped. `payload_rings`: how many of each process
    /// there is room for.
    Rings(const platform::SharedObject& object, std::byte* head, const Layout& layout,
          std::size_t processes, std::size_t payload_rings, const Mailboxes& mailboxes,
          const Segments& segments);

    std::size_t processes() const noexcept { return processes_; }
    /// Returns the number of instances of each process: a power of two, the same for all.
    std::size_t instances() const noexcept { return layout_.instances; }

    /// Maps the rings of all pairs, for processes in one address space.
    bool map_all();
    /// Maps the rings to process `me`; if `outgoing`, those from it, too.
    bool map(std::size_t me, bool outgoing);
    /// Maps the rings from one process to another unless they are mapped.
    bool reach(std::size_t from, std::size_t to) const;
    /// Unmaps the rings to one process, and from it.
    void unmap() noexcept;

    /// Binds each end of a ring that is mapped.
    void bind(Producer& producer, std::size_t from, std::size_t to,
              std::size_t instance) const noexcept {
        std::byte* pair = pair_of(from, to);
        producer.bind(control(pair, instance), cells(pair, instance));
    }
    void bind(Consumer& consumer, std::size_t from, std::size_t to,
              std::size_t instance) const noexcept {
        std::byte* pair = pair_of(from, to);
        consumer.bind(control(pair, instance), cells(pair, instance),
                      mailboxes_.of(to).under_pressure);
    }
    /// Gives back these pages of a ring, whose producer says that they are idle; zeroes come in
    /// their place. Returns false if it cannot drop them all.
    bool drop_pages(std::size_t from, std::size_t to, std::size_t instance,
                    RingPages pages) const noexcept;

    /// Returns the notice that `from` writes for `to`. It lies beside the rings, which are mapped.
    BlockedNotice& blocked_notice(std::size_t from, std::size_t to) const noexcept {
        return *reinterpret_cast<BlockedNotice*>(pair_of(from, to) + layout_.notice);
    }
    /// Returns the offers of a ring, likewise.
    Offers& offers(std::size_t from, std::size_t to, std::size_t instance) const noexcept {
        return ring_offers(from, to, instance).own;
    }
    /// Returns further offers, from block 1 on, mapped with the first call; nullptr if they cannot
    /// be mapped.
    FurtherOffers* further_offers(std::size_t from, std::size_t to, std::size_t instance,
                                  std::size_t block) const noexcept;
    /// Returns what `use` returns for that block, which is mapped. Block 0 is the ring's own.
    template <class Use>
    auto with_offers(std::size_t from, std::size_t to, std::size_t instance, std::size_t block,
                     Use&& use) const noexcept {
        if (block == 0) [[likely]]
            return use(offers(from, to, instance));
        return use(*further_offers(from, to, instance, block));
    }
    /// Makes that block; the sender calls it. Returns false if the file has no room for it, or it
    /// cannot be mapped.
    bool add_offers(std::size_t from, std::size_t to, std::size_t instance,
                    std::size_t block) const noexcept;
    /// Maps all blocks that there are. Returns false if one cannot be mapped.
    bool reach_offers(std::size_t from, std::size_t to, std::size_t instance) const noexcept;

    /// Returns a copy of messages to `process`.
    SharedCopy& shared_copy(std::size_t process, std::size_t number) const noexcept {
        return reinterpret_cast<SharedCopy*>(
            head_ + layout_.shared_copies)[process * shared_copies_each + number];
    }

    /// Returns the number of rings of payload by which each process can send.
    std::size_t payload_rings_each() const noexcept { return payload_rings_each_; }
    /// Returns one of them, mapped with the first call; nullptr if it cannot be mapped.
    PayloadRing* payload_ring(std::size_t owner, std::size_t number) const;

private:
    std::size_t offset_of(std::size_t from, std::size_t to) const noexcept {
        return layout_.rings + (to * processes_ + from) * layout_.pair_bytes;
    }
    /// Returns the block of this pair, which is mapped.
    std::byte* pair_of(std::size_t from, std::size_t to) const noexcept {
        const auto begin = [](const platform::Mapping& mapping) {
            return static_cast<std::byte*>(mapping.address());
        };
        if (all_) return begin(all_) + (offset_of(from, to) - layout_.rings);
        if (to == me_) return begin(incoming_) + from * layout_.pair_bytes;
        return begin(outgoing_[to]);
    }
    Control& control(std::byte* pair, std::size_t instance) const noexcept {
        return reinterpret_cast<Control*>(pair + layout_.controls)[instance];
    }
    static Cell* cells(std::byte* pair, std::size_t instance) noexcept {
        return reinterpret_cast<Cell*>(pair) + instance * ring_slots;
    }
    RingOffers& ring_offers(std::size_t from, std::size_t to, std::size_t instance) const noexcept {
        return reinterpret_cast<RingOffers*>(pair_of(from, to) + layout_.offers)[instance];
    }
    FurtherOffers* map_offers(std::uint64_t place) const noexcept;

    const platform::SharedObject& object_;
    std::byte* const head_;
    const Layout layout_;
    const std::size_t processes_, payload_rings_each_;
    const Mailboxes& mailboxes_;
    const Segments& segments_;

    mutable std::mutex lock_;
    platform::Mapping all_;       ///< rings of all pairs; or
    platform::Mapping incoming_;  ///< rings to one process, and
    std::size_t me_ = 0;
    mutable std::vector<platform::Mapping> outgoing_;       ///< rings from it, by receiver
    mutable std::vector<platform::Mapping> payload_rings_;  ///< by owner and number
    mutable std::mutex offers_lock_;
    /// By offset in the file.
    mutable std::unordered_map<std::uint64_t, std::shared_ptr<const platform::Mapping>>
        further_offers_;
};

}  // namespace heddle::node

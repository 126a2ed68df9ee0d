// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/node.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>

namespace heddle::transport::shm {
std::optional<Node> Node::map(int descriptor, std::size_t processes) {
    if (processes > most_processes) {
        errno = E2BIG;
        return std::nullopt;
    }
    Node node;
    node.processes_ = processes;
    node.layout_ = Layout::of(processes);
    auto object = platform::SharedObject::of(descriptor);
    if (!object || object->bytes() < node.layout_.bytes(0)) return std::nullopt;
    const Layout::Division division = node.layout_.divide(processes, object->bytes());
    node.stages_ = division.stages;
    node.payload_rings_ = division.payload_rings_each;
    node.segments_ = division.segments;
    node.segments_end_ = object->bytes();
    node.head_ = std::make_shared<platform::Mapping>(object->map(0, node.layout_.rings));
    if (!*node.head_) return std::nullopt;
    node.pieces_ = std::make_shared<Pieces>();
    node.pieces_->object = *object;
    node.pieces_->outgoing.resize(processes);
    node.pieces_->payload_rings.resize(processes * node.payload_rings_);
    return node;
}

std::optional<Node> Node::map_all(int descriptor, std::size_t processes) {
    std::optional<Node> node = map(descriptor, processes);
    if (!node) return node;
    const Layout& layout = node->layout_;
    node->pieces_->all = node->pieces_->object.map(layout.rings, layout.stages - layout.rings);
    return node->pieces_->all ? std::move(node) : std::nullopt;
}

bool Node::map_rings(std::size_t me, bool outgoing) {
    Pieces& pieces = *pieces_;
    if (pieces.all) return true;
    pieces.me = me;
    if (!pieces.incoming)
        pieces.incoming =
            pieces.object.map(layout_.rings + offset_of(0, me), processes_ * layout_.pair_bytes);
    if (!pieces.incoming) return false;
    for (std::size_t to = 0; outgoing && to < processes_; ++to)
        if (!reach(me, to)) return false;
    return true;
}

bool Node::reach(std::size_t from, std::size_t to) const {
    Pieces& pieces = *pieces_;
    if (pieces.all || from == to) return true;
    std::lock_guard guard(pieces.lock);
    platform::Mapping& rings = pieces.outgoing[to];
    if (!rings) rings = pieces.object.map(layout_.rings + offset_of(from, to), layout_.pair_bytes);
    return static_cast<bool>(rings);
}

void Node::unmap() noexcept {
    Pieces& pieces = *pieces_;
    if (pieces.all) return;
    pieces.incoming = {};
    for (platform::Mapping& one : pieces.outgoing) one = {};
    for (platform::Mapping& one : pieces.stages) one = {};
    for (platform::Mapping& one : pieces.payload_rings) one = {};
    pieces.further_offers.clear();
}

bool Node::drop_pages(std::size_t from, std::size_t to, std::size_t instance,
                      RingPages pages) const noexcept {
    const std::size_t cells =
        layout_.rings + offset_of(from, to) + instance * ring_pages * page_bytes;
    bool dropped = true;
    for (std::size_t page = 0, end = 0; page < ring_pages; page = end + 1) {
        for (end = page; end < ring_pages && pages.test(end);) ++end;
        if (end != page)
            dropped = dropped &&
                pieces_->object.drop_pages(cells + page * page_bytes, (end - page) * page_bytes);
    }
    return dropped;
}

std::byte* Node::map_numbered_stage(std::int32_t number) const {
    Pieces& pieces = *pieces_;
    std::lock_guard guard(pieces.lock);
    platform::Mapping& stage = pieces.stages[number];
    if (!stage)
        stage = pieces.object.map(layout_.bytes(static_cast<std::size_t>(number)), stage_bytes);
    return static_cast<std::byte*>(stage.address());
}

PayloadRing* Node::payload_ring(std::size_t owner, std::size_t number) const {
    Pieces& pieces = *pieces_;
    std::lock_guard guard(pieces.lock);
    const std::size_t index = owner * payload_rings_ + number;
    platform::Mapping& ring = pieces.payload_rings[index];
    if (!ring)
        ring = pieces.object.map(layout_.payload_rings + index * sizeof(PayloadRing),
                                 sizeof(PayloadRing));
    return static_cast<PayloadRing*>(ring.address());
}

FurtherOffers* Node::map_offers(std::uint64_t place) const noexcept {
    Pieces& pieces = *pieces_;
    std::lock_guard guard(pieces.offers_lock);
    try {
        auto& mapping = pieces.further_offers[place];
        if (!mapping) mapping = map_segment({place, sizeof(FurtherOffers)});
        return mapping ? static_cast<FurtherOffers*>(mapping->address()) : nullptr;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

FurtherOffers* Node::further_offers(std::size_t from, std::size_t to, std::size_t instance,
                                    std::size_t block) const noexcept {
    // Relaxed: published by the message that names the block.
    return map_offers(ring_offers(from, to, instance).further[block - 1].load(relaxed));
}

bool Node::add_offers(std::size_t from, std::size_t to, std::size_t instance,
                      std::size_t block) const noexcept {
    std::atomic<std::uint64_t>& place = ring_offers(from, to, instance).further[block - 1];
    const Segment segment = take_segment(sizeof(FurtherOffers));
    if (!segment) return false;
    if (map_offers(segment.offset) == nullptr) {
        give_segment(segment);
        return false;
    }
    place.store(segment.offset, relaxed);
    return true;
}

bool Node::reach_offers(std::size_t from, std::size_t to, std::size_t instance) const noexcept {
    for (const std::atomic<std::uint64_t>& place : ring_offers(from, to, instance).further) {
        const std::uint64_t offset = place.load(relaxed);
        if (offset == 0) break;
        if (map_offers(offset) == nullptr) return false;
    }
    return true;
}

std::int32_t Node::take_numbered_stage(std::uint32_t users) const noexcept {
    StageBoard& board = stage_board();
    std::uint64_t used = board.used.load(relaxed);
    int number = 0;
    do {
        number = std::countr_one(used);
        if (number >= static_cast<int>(stages_)) return -1;
        // A1: pairs with R1, where the last user of before has left.
    } while (!board.used.compare_exchange_weak(used, used | std::uint64_t{1} << number, acquire,
                                               relaxed));
    board.users[number].store(users, relaxed);  // published by the message that tells them
    return number;
}

void Node::leave_numbered_stage(std::int32_t number) const noexcept {
    StageBoard& board = stage_board();
    if (board.users[number].fetch_sub(1, acq_rel) != 1) return;
    pieces_->object.drop_pages(layout_.bytes(static_cast<std::size_t>(number)), stage_bytes);
    board.used.fetch_and(~(std::uint64_t{1} << number), release);  // R1
}

namespace {

constexpr std::uint64_t one_segment = 1, number_of_segments = 0xffff;
constexpr int page_shift = 16;

}  // namespace

namespace {

/// How many use a segment as a stage: behind what they use of it.
std::atomic<std::uint32_t>& users_of(std::byte* memory) noexcept {
    return *reinterpret_cast<std::atomic<std::uint32_t>*>(memory + stage_bytes);
}

}  // namespace

Stage Node::take_stage(std::uint32_t users) const {
    Stage stage{take_numbered_stage(users), {}};
    if (stage || !can_spare_segment(stage_bytes + page_bytes)) return stage;
    stage.segment = take_segment(stage_bytes + page_bytes);
    std::shared_ptr<const platform::Mapping> mapping;
    if (!stage.segment) return {};
    if (std::byte* memory = map_stage(stage, mapping)) {
        users_of(memory).store(users, relaxed);  // others hear of it by messages
        return stage;
    }
    give_segment(stage.segment);
    return {};
}

std::byte* Node::map_stage(const Stage& stage,
                           std::shared_ptr<const platform::Mapping>& mapping) const {
    if (stage.number >= 0) return map_numbered_stage(stage.number);
    mapping = map_segment(stage.segment);
    return mapping == nullptr ? nullptr : static_cast<std::byte*>(mapping->address());
}

void Node::leave_stage(const Stage& stage, std::byte* memory) const noexcept {
    if (stage.number >= 0) return leave_numbered_stage(stage.number);
    // Of all users, who have done with it: the last one gives it back.
    if (users_of(memory).fetch_sub(1, acq_rel) == 1) give_segment(stage.segment);
}

void Node::give_stage_up(const Stage& stage, bool taker) const noexcept {
    if (stage.number >= 0) return leave_numbered_stage(stage.number);
    if (taker) give_segment(stage.segment);
}

std::size_t Node::bytes_with_segment(std::uint64_t bytes) const noexcept {
    return layout_.segments(processes_) + bytes;
}

Segment Node::take_segment(std::uint64_t bytes) const noexcept {
    if (bytes == 0 || segments_end_ <= segments_ || bytes > segments_end_ - segments_) return {};
    const std::uint64_t most = (segments_end_ - segments_) / page_bytes;
    const std::uint64_t pages = (bytes + page_bytes - 1) / page_bytes;
    std::atomic<std::uint64_t>& word = segment_board().taken;
    std::uint64_t taken = word.load(relaxed);
    do {
        if (pages > most - (taken >> page_shift) ||
            (taken & number_of_segments) == number_of_segments)
            return {};
        // A2: pairs with R2, where the last user of these pages has dropped what was in them.
    } while (!word.compare_exchange_weak(taken, taken + (pages << page_shift) + one_segment,
                                         acquire, relaxed));
    return {segments_ + (taken >> page_shift) * page_bytes, pages * page_bytes};
}

bool Node::can_spare_segment(std::uint64_t bytes) const noexcept {
    if (segments_end_ <= segments_) return false;
    const std::uint64_t taken = segment_board().taken.load(relaxed);
    const std::uint64_t half = (segments_end_ - segments_) / 2;
    const std::uint64_t used = (taken >> page_shift) * page_bytes;
    return (taken & number_of_segments) < number_of_segments / 2 && used <= half &&
        bytes <= half - used;
}

void Node::give_segment(const Segment& segment) const noexcept {
    pieces_->object.drop_pages(segment.offset, segment.bytes);
    std::atomic<std::uint64_t>& word = segment_board().taken;
    std::uint64_t taken = word.load(relaxed), left = 0;
    do {
        const std::uint64_t begin = (segment.offset - segments_) / page_bytes;
        const bool last = (taken >> page_shift) == begin + segment.bytes / page_bytes;
        left = (taken & number_of_segments) == one_segment ? 0 : taken - one_segment;
        if (left != 0 && last) left = (begin << page_shift) | (left & number_of_segments);
    } while (!word.compare_exchange_weak(taken, left, release, relaxed));  // R2
}

std::shared_ptr<const platform::Mapping> Node::map_segment(const Segment& segment) const {
    const auto map = [&]() -> std::shared_ptr<const platform::Mapping> {
        auto mapping =
            std::make_shared<platform::Mapping>(pieces_->object.map(segment.offset, segment.bytes));
        return *mapping ? mapping : nullptr;
    };
    if (!pieces_->all) return map();
    std::lock_guard guard(pieces_->lock);
    std::weak_ptr<const platform::Mapping>& known = pieces_->segments[segment.offset];
    auto mapping = known.lock();
    if (mapping == nullptr || mapping->bytes() < segment.bytes) known = mapping = map();
    return mapping;
}

void Node::notify(std::size_t from, std::size_t to, std::size_t instance) const noexcept {
    rung_sources(to, instance, from / 64).fetch_or(std::uint64_t{1} << (from % 64), seq_cst);
    Mailbox& there = mailbox(to);
    there.rung.fetch_or(std::uint64_t{1} << instance, seq_cst);
    there.bell.ring();
}

void Node::notify_withdrawn(std::size_t to) const noexcept {
    Mailbox& there = mailbox(to);
    there.withdrawn.store(1, seq_cst);
    there.bell.ring();
}

}  // namespace heddle::transport::shm

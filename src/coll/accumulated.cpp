// SPDX-License-Identifier: BSD-3-Clause
/// Reductions whose pieces grow in one place each, to which the ranks come in turn.
#include <algorithm>
#include <optional>

#include "coll/algorithms.hpp"
#include "coll/shared_half.hpp"
#include "objects/nodes.hpp"

namespace heddle::coll {
namespace {

constexpr std::int32_t everybody = -1;

/// The pieces of a part of the operand that fits into a half of the scratch memory. Piece r begins
/// with rank r, and is complete with the rank before it.
class Part {
public:
    Part(Schedule& schedule, std::uint64_t count)
        : extent_(schedule.reduction.element_bytes), starts_(even_pieces(schedule, count)) {}

    std::uint64_t start(std::int32_t piece) const noexcept {
        return starts_[static_cast<std::size_t>(piece)] * extent_;
    }
    std::uint64_t bytes(std::int32_t piece) const noexcept {
        return start(piece + 1) - start(piece);
    }
    std::uint64_t elements(std::int32_t piece) const noexcept { return bytes(piece) / extent_; }
    std::uint64_t all_bytes() const noexcept { return starts_.back() * extent_; }

private:
    std::uint64_t extent_;
    std::span<const std::uint64_t> starts_;
};

/// Pieces that grow in half of the scratch memory. A rank passes a piece by saying that it is the
/// next rank's turn.
class InScratch {
public:
    InScratch(Schedule& schedule, const Part&)
        : schedule_(schedule), half_(schedule, schedule.size + 1) {}

    std::byte* sum() const noexcept { return half_.memory(); }
    void pass(std::int32_t turn) {
        half_.finish(turn - 1);
        half_.wait_for(schedule_.before(1), turn - 1);
    }
    void collect(std::int32_t root) {
        half_.finish(schedule_.size - 1);
        if (root == everybody || root == schedule_.rank) half_.wait_for_all(schedule_.size - 1);
    }
    void end() { half_.finish(schedule_.size); }

private:
    Schedule& schedule_;
    SharedHalf half_;
};

/// Pieces that travel in messages.
class InMessages {
public:
    InMessages(Schedule& schedule, const Part& part)
        : schedule_(schedule), part_(part), sum_(schedule.scratch(part.all_bytes())) {}

    std::byte* sum() const noexcept { return sum_; }
    void pass(std::int32_t turn) {
        receive(schedule_.before(turn), schedule_.before(1));
        send(schedule_.before(turn - 1), schedule_.after(1));
        schedule_.wait();
    }
    void collect(std::int32_t root) {
        for (std::int32_t distance = 1; distance < schedule_.size; ++distance) {
            const std::int32_t from = schedule_.before(distance);
            if (root == everybody || root == schedule_.rank)
                receive((from + 1) % schedule_.size, from);
        }
        for (std::int32_t distance = 1; distance < schedule_.size; ++distance) {
            const std::int32_t to = schedule_.after(distance);
            if (root == everybody || root == to) send(schedule_.after(1), to);
        }
        schedule_.wait();
    }
    void end() {}

private:
    std::byte* place(std::int32_t piece) const noexcept { return sum_ + part_.start(piece); }
    void send(std::int32_t piece, std::int32_t to) {
        schedule_.send(place(piece), part_.bytes(piece), to);
    }
    void receive(std::int32_t piece, std::int32_t from) {
        schedule_.receive(place(piece), part_.bytes(piece), from);
    }

    Schedule& schedule_;
    const Part& part_;
    std::byte* sum_;
};

/// Pieces that grow in scratch memory of each node, and travel in messages between nodes. Without
/// such memory they travel on the node, too. A piece that is complete goes to one rank of each
/// other node, its keeper there.
class OnNodes {
public:
    OnNodes(Schedule& schedule, const Part& part)
        : schedule_(schedule), nodes_(*schedule.communicator.nodes), part_(part) {
        if (find_scratch_of_node(schedule, nodes_)) {
            schedule.shared = &nodes_.scratch;
            on_node([&] { half_.emplace(schedule_, nodes_.ranks() + 1); });
        }
        sum_ = half_ ? half_->memory() : schedule.scratch(part.all_bytes());
    }

    std::byte* sum() const noexcept { return sum_; }
    void pass(std::int32_t turn) {
        const std::int32_t next = mate(schedule_.after(1)), last = mate(schedule_.before(1));
        if (next >= 0)
            on_node([&] { half_->finish(turn - 1); });
        else
            send(schedule_.before(turn - 1), schedule_.after(1));
        if (last >= 0) return on_node([&] { half_->wait_for(last, turn - 1); });
        receive(schedule_.before(turn), schedule_.before(1));
        schedule_.wait();
    }
    void collect(std::int32_t root) {
        const auto wanted = [&](std::int32_t rank) { return root == everybody || root == rank; };
        const auto wanted_on = [&](std::int32_t node) {
            return root == everybody || nodes_.place_of(root, node) >= 0;
        };
        if (wanted_on(nodes_.own))
            each_kept(nodes_.place, [&](std::int32_t from, bool is_far) {
                if (is_far) receive(completed_by(from), from);
            });
        for (std::int32_t distance = 1; distance < nodes_.count(); ++distance) {
            const std::int32_t node = (nodes_.own + distance) % nodes_.count();
            const objects::RanksOfNode there = nodes_.on(node);
            if (wanted_on(node))
                send(completed_by(schedule_.rank), there[nodes_.place % there.size()]);
        }
        schedule_.wait();
        if (half_) {
            on_node([&] {
                half_->finish(last_turn());
                if (wanted(nodes_.here[index(nodes_.place)])) half_->wait_for_all(last_turn());
            });
        } else {
            exchange_kept(wanted);
        }
    }
    void end() {
        if (half_) on_node([&] { half_->finish(last_turn() + 1); });
    }

private:
    /// Returns the place of a rank of this node with which this process shares memory, or -1.
    std::int32_t mate(std::int32_t rank) const noexcept {
        return half_ ? nodes_.place_of(rank, nodes_.own) : -1;
    }
    template <class Function>
    void on_node(Function&& function) {
        schedule_.among(nodes_.here, nodes_.place, function);
    }
    /// Calls function(rank that has completed it, whether that is far) for each piece that a rank
    /// of this node keeps.
    template <class Function>
    void each_kept(std::int32_t place, Function&& function) const {
        for (std::int32_t node = 0; node < nodes_.count(); ++node) {
            const objects::RanksOfNode there = nodes_.on(node);
            for (std::int32_t at = place; at < there.size(); at += nodes_.size_of(nodes_.own))
                function(there[at], node != nodes_.own);
        }
    }
    /// Each rank of the node sends the pieces that it keeps to those that want them.
    template <class Wanted>
    void exchange_kept(Wanted&& wanted) {
        const std::int32_t ranks = nodes_.size_of(nodes_.own);
        const auto mate_at = [&](std::int32_t distance) {
            return (nodes_.place + distance) % ranks;
        };
        for (std::int32_t distance = 1; distance < ranks; ++distance)
            if (wanted(schedule_.rank))
                each_kept(mate_at(distance), [&](std::int32_t from, bool) {
                    receive(completed_by(from), nodes_.here[index(mate_at(distance))]);
                });
        for (std::int32_t distance = 1; distance < ranks; ++distance) {
            const std::int32_t to = nodes_.here[index(mate_at(distance))];
            if (wanted(to))
                each_kept(nodes_.place,
                          [&](std::int32_t from, bool) { send(completed_by(from), to); });
        }
        schedule_.wait();
    }
    static std::size_t index(std::int32_t place) noexcept {
        return static_cast<std::size_t>(place);
    }
    std::int32_t last_turn() const noexcept { return nodes_.ranks() - 1; }
    std::int32_t completed_by(std::int32_t rank) const noexcept {
        return (rank + 1) % nodes_.ranks();
    }
    void send(std::int32_t piece, std::int32_t to) {
        schedule_.send(sum_ + part_.start(piece), part_.bytes(piece), to);
    }
    void receive(std::int32_t piece, std::int32_t from) {
        schedule_.receive(sum_ + part_.start(piece), part_.bytes(piece), from);
    }

    Schedule& schedule_;
    objects::Nodes& nodes_;
    const Part& part_;
    std::optional<SharedHalf> half_;
    std::byte* sum_;
};

template <class Way>
void accumulate_part(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                     std::int32_t root) {
    const Part part(schedule, count);
    Way way(schedule, part);
    const std::int32_t rank = schedule.rank;
    const auto place = [&](std::int32_t piece) { return way.sum() + part.start(piece); };
    schedule.copy(in + part.start(rank), place(rank), part.bytes(rank));
    for (std::int32_t turn = 1; turn < schedule.size; ++turn) {
        const std::int32_t piece = schedule.before(turn);
        way.pass(turn);
        schedule.combine(in + part.start(piece), place(piece), part.elements(piece));
    }
    way.collect(root);
    if (root == everybody || root == rank) schedule.copy(way.sum(), out, part.all_bytes());
    way.end();
}

/// Combines operands for `root`, or for all ranks.
template <class Way>
void accumulate(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                std::int32_t root) {
    const std::uint64_t extent = schedule.reduction.element_bytes;
    const std::uint64_t most = std::max<std::uint64_t>(ScratchLayout::half_bytes / extent, 1);
    for (std::uint64_t first = 0; first < count; first += most) {
        std::byte* const result = out == nullptr ? nullptr : out + first * extent;
        accumulate_part<Way>(schedule, in + first * extent, result, std::min(most, count - first),
                             root);
    }
}

}  // namespace

void accumulated_reduce(Schedule& schedule, const std::byte* in, std::byte* out,
                        std::uint64_t count, std::int32_t root) {
    accumulate<InScratch>(schedule, in, out, count, root);
}

void travelling_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                       std::int32_t root) {
    accumulate<InMessages>(schedule, in, out, count, root);
}

void accumulated_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                           std::uint64_t count) {
    accumulate<InScratch>(schedule, in, out, count, everybody);
}

void travelling_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                          std::uint64_t count) {
    accumulate<InMessages>(schedule, in, out, count, everybody);
}

void relayed_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                    std::int32_t root) {
    accumulate<OnNodes>(schedule, in, out, count, root);
}

void relayed_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                       std::uint64_t count) {
    accumulate<OnNodes>(schedule, in, out, count, everybody);
}

}  // namespace heddle::coll

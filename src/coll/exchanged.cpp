// SPDX-License-Identifier: BSD-3-Clause
/// Reductions in levels in which several ranks of each node, the carriers, have a share of the
/// elements each. A carrier gets its share of all operands. It combines them in the order that is
/// asked for, and gives the result to its node.
#include <algorithm>
#include <optional>

#include "coll/algorithms.hpp"
#include "coll/combination_order.hpp"
#include "coll/shared_half.hpp"
#include "objects/nodes.hpp"

namespace heddle::coll {
namespace {

/// The operands of a node, share by share, and in each share by place. They are in half of the
/// scratch memory of the node, or, without it, in memory of the carriers.
class NodeOperands {
public:
    NodeOperands(Schedule& schedule, objects::Nodes& nodes, std::uint64_t count)
        : schedule_(schedule), nodes_(nodes), extent_(schedule.reduction.element_bytes) {
        const auto carriers = static_cast<std::uint64_t>(nodes.fewest);
        starts_ = schedule.scratch_of<std::uint64_t>(carriers + 1);
        for (std::uint64_t i = 0; i <= carriers; ++i) starts_[i] = count * i / carriers;
        if (find_scratch_of_node(schedule, nodes)) {
            schedule.shared = &nodes.scratch;
            on_node([&] { half_.emplace(schedule_, turns); });
        }
        memory_ = half_ ? half_->memory() : schedule.scratch(count * extent_ * size());
    }

    std::int32_t carriers() const noexcept { return static_cast<std::int32_t>(starts_.size()) - 1; }
    bool is_carrier() const noexcept { return nodes_.place < carriers(); }
    std::uint64_t first(std::int32_t share) const noexcept { return starts_[index(share)]; }
    std::uint64_t count(std::int32_t share) const noexcept {
        return starts_[index(share) + 1] - starts_[index(share)];
    }
    std::uint64_t bytes(std::int32_t share) const noexcept { return count(share) * extent_; }
    /// Returns the place of a share of one operand. Those of others follow.
    std::byte* at(std::int32_t share, std::int32_t place) const noexcept {
        return memory_ + first(share) * extent_ * size() +
            bytes(share) * static_cast<std::uint64_t>(place);
    }

    /// Gives the operand of this process to the carriers. They have their shares afterwards.
    void give(const std::byte* in) {
        for (std::int32_t share = 0; share < carriers(); ++share) {
            const std::byte* const from = in + first(share) * extent_;
            if (half_ || share == nodes_.place)
                schedule_.copy(from, at(share, nodes_.place), bytes(share));
            else
                schedule_.send(from, bytes(share), nodes_.here[index(share)]);
        }
        if (half_)
            return on_node([&] {
                half_->finish(given);
                if (is_carrier()) half_->wait_for_all(given);
            });
        for (std::int32_t place = 0; is_carrier() && place < nodes_.size_of(nodes_.own); ++place)
            if (place != nodes_.place)
                schedule_.receive(at(nodes_.place, place), bytes(nodes_.place),
                                  nodes_.here[index(place)]);
        schedule_.wait();
    }
    /// Gives the results of the carriers to the ranks of this node that want them. `result` is that
    /// of this process, if it is a carrier.
    template <class Wants>
    void deal(const std::byte* result, std::byte* out, Wants&& wants) {
        const bool is_wanted = wants(schedule_.rank);
        if (is_carrier() && half_) schedule_.copy(result, at(nodes_.place, 0), bytes(nodes_.place));
        if (is_carrier() && !half_)
            for (const std::int32_t rank : nodes_.here)
                if (rank != schedule_.rank && wants(rank))
                    schedule_.send(result, bytes(nodes_.place), rank);
        if (half_) on_node([&] { half_->finish(combined); });
        for (std::int32_t share = 0; is_wanted && share < carriers(); ++share) {
            std::byte* const to = out + first(share) * extent_;
            if (share == nodes_.place) {
                schedule_.copy(result, to, bytes(share));
            } else if (half_) {
                on_node([&] { half_->wait_for(share, combined); });
                schedule_.copy(at(share, 0), to, bytes(share));
            } else {
                schedule_.receive(to, bytes(share), nodes_.here[index(share)]);
            }
        }
    }
    void finish() {
        if (half_) return on_node([&] { half_->finish(dealt); });
        schedule_.wait();
    }

private:
    static constexpr std::int32_t given = 0, combined = 1, dealt = 2, turns = 3;

    static std::size_t index(std::int32_t place) noexcept {
        return static_cast<std::size_t>(place);
    }
    std::uint64_t size() const noexcept {
        return static_cast<std::uint64_t>(nodes_.size_of(nodes_.own));
    }
    template <class Function>
    void on_node(Function&& function) {
        schedule_.among(nodes_.here, nodes_.place, function);
    }

    Schedule& schedule_;
    objects::Nodes& nodes_;
    const std::uint64_t extent_;
    std::span<std::uint64_t> starts_;  ///< of the shares, in elements, and the end
    std::optional<SharedHalf> half_;
    std::byte* memory_;
};

/// A carrier's part: its share of the operands of all nodes.
class Carrier {
public:
    Carrier(Schedule& schedule, const objects::Nodes& nodes, const NodeOperands& operands,
            CombinationOrder order)
        : schedule_(schedule),
          nodes_(nodes),
          operands_(operands),
          share_(nodes.place),
          in_any_order_(order == CombinationOrder::any),
          order_(order) {}

    /// Exchanges operands with the carriers of the same share on other nodes. wants(node) says who
    /// gets them.
    template <class Wants>
    void exchange(Wants&& wants) {
        const std::byte* const mine = in_any_order_ ? combine_here() : operands_.at(share_, 0);
        received_ = schedule_.scratch_of<std::byte*>(static_cast<std::size_t>(nodes_.count()));
        for (std::int32_t distance = 1; distance < nodes_.count(); ++distance) {
            const std::int32_t node = (nodes_.own + nodes_.count() - distance) % nodes_.count();
            if (!wants(nodes_.own)) break;
            std::byte*& here = received_[static_cast<std::size_t>(node)];
            here = schedule_.scratch(bytes_of(node));
            schedule_.receive(here, bytes_of(node), nodes_.on(node)[share_]);
        }
        for (std::int32_t distance = 1; distance < nodes_.count(); ++distance) {
            const std::int32_t node = (nodes_.own + distance) % nodes_.count();
            if (wants(node)) schedule_.send(mine, bytes_of(nodes_.own), nodes_.on(node)[share_]);
        }
        schedule_.wait();
        received_[static_cast<std::size_t>(nodes_.own)] = const_cast<std::byte*>(mine);
    }
    /// Returns the place of the result. `all` elements are in all shares.
    std::byte* combine(std::uint64_t all, std::int32_t root) {
        const Elements elements{operands_.first(share_), operands_.count(share_), all};
        if (in_any_order_) return combine_all(schedule_, order_, received_, elements, 0);
        const auto by_rank =
            schedule_.scratch_of<std::byte*>(static_cast<std::size_t>(nodes_.ranks()));
        for (std::int32_t node = 0; node < nodes_.count(); ++node) {
            const objects::RanksOfNode there = nodes_.on(node);
            for (std::int32_t place = 0; place < there.size(); ++place)
                by_rank[static_cast<std::size_t>(there[place])] =
                    received_[static_cast<std::size_t>(node)] +
                    operands_.bytes(share_) * static_cast<std::uint64_t>(place);
        }
        return combine_all(schedule_, order_, by_rank, elements, root);
    }

private:
    std::uint64_t bytes_of(std::int32_t node) const noexcept {
        const std::int32_t number = in_any_order_ ? 1 : nodes_.size_of(node);
        return operands_.bytes(share_) * static_cast<std::uint64_t>(number);
    }
    std::byte* combine_here() {
        std::byte* const sum = operands_.at(share_, 0);
        for (std::int32_t place = 1; place < nodes_.size_of(nodes_.own); ++place)
            schedule_.combine(operands_.at(share_, place), sum, operands_.count(share_));
        return sum;
    }

    Schedule& schedule_;
    const objects::Nodes& nodes_;
    const NodeOperands& operands_;
    const std::int32_t share_;
    const bool in_any_order_;
    const CombinationOrder order_;
    std::span<std::byte*> received_;  ///< by node
};

constexpr std::int32_t every_rank = -1;

void exchange(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
              std::int32_t root, CombinationOrder order) {
    objects::Nodes& nodes = *schedule.communicator.nodes;
    const auto wants = [&](std::int32_t rank) { return root == every_rank || root == rank; };
    const auto node_wants = [&](std::int32_t node) {
        return root == every_rank || nodes.place_of(root, node) >= 0;
    };
    NodeOperands operands(schedule, nodes, count);
    operands.give(in);
    const bool is_wanted = node_wants(nodes.own);
    const std::byte* result = nullptr;
    if (operands.is_carrier()) {
        Carrier carrier(schedule, nodes, operands, order);
        carrier.exchange(node_wants);
        if (is_wanted) result = carrier.combine(count, std::max(root, 0));
    }
    if (is_wanted) operands.deal(result, out, wants);
    operands.finish();
}

}  // namespace

void exchanged_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                      std::int32_t root, CombinationOrder order) {
    exchange(schedule, in, out, count, root, order);
}

void exchanged_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                         std::uint64_t count, CombinationOrder order) {
    exchange(schedule, in, out, count, every_rank, order);
}

}  // namespace heddle::coll

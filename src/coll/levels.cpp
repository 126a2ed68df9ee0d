// SPDX-License-Identifier: BSD-3-Clause
#include "coll/levels.hpp"

#include <algorithm>
#include <optional>

#include "coll/algorithms.hpp"
#include "coll/combination_order.hpp"
#include "coll/shared_slots.hpp"
#include "coll/tree.hpp"
#include "objects/nodes.hpp"
#include "objects/process.hpp"
#include "p2p/engine.hpp"

namespace heddle::coll {
namespace {

using objects::Nodes;

/// The most data that are dealt on a node: they pass through a slot.
constexpr std::uint64_t most_dealt = ScratchLayout::slot_bytes;
/// The most bytes of the operands of all ranks, at the root of a reduce.
constexpr std::uint64_t most_gathered_once = std::uint64_t{8} << 10;
/// The same at each lead of an allreduce.
constexpr std::uint64_t most_gathered = std::uint64_t{256} << 10;
/// The most bytes of a block that pass through the lead in an allgather, if others may share.
constexpr std::uint64_t most_passed = std::uint64_t{4} << 10;
/// The piece in which a broadcast goes from node to node, while the pieces before are copied on the
/// node. Each of several ranks of a node carries a share of it.
constexpr std::uint64_t piece_bytes = std::uint64_t{128} << 10;
constexpr std::uint64_t least_share = std::uint64_t{32} << 10;
/// The most bytes of an operand that the lead combines, in a reduction to one rank and to all.
/// Longer ones are combined by carriers. A carrier combines at most `most_of_carrier` in all.
constexpr std::uint64_t most_for_lead_once = std::uint64_t{32} << 10;
constexpr std::uint64_t most_for_lead = std::uint64_t{4} << 10;
constexpr std::uint64_t most_of_carrier = std::uint64_t{512} << 10;
/// The most ranks that pass pieces around (accumulated.cpp).
constexpr std::int32_t most_relaying = 32;

Nodes& nodes_of(const Schedule& schedule) noexcept { return *schedule.communicator.nodes; }

std::uint64_t times(std::int32_t number, std::uint64_t bytes) noexcept {
    return static_cast<std::uint64_t>(number) * bytes;
}

/// Returns whether the ranks of each node may share scratch memory, so far as all ranks know.
bool may_share_on_nodes(const Schedule& schedule, const Nodes& nodes) noexcept {
    return schedule.blocking() && nodes.most <= ScratchLayout::most_ranks;
}

/// Calls the function with ranks that are places on this node, and waits for everything at its end.
template <class Function>
void on_node(Schedule& schedule, const Nodes& nodes, Function&& function) {
    schedule.among(nodes.here, nodes.place, function);
    schedule.wait();
}

/// Does the same with ranks that are nodes. This process is the lead of one.
template <class Function>
void among_leads(Schedule& schedule, const Nodes& nodes, std::span<const std::int32_t> leads,
                 Function&& function) {
    schedule.among(leads, nodes.own, function);
    schedule.wait();
}

/// Returns the leads: `root` for its node, unless it is -1, and the first rank for other nodes.
std::span<const std::int32_t> leads_of(Schedule& schedule, const Nodes& nodes, std::int32_t root) {
    const auto leads = schedule.scratch_of<std::int32_t>(static_cast<std::size_t>(nodes.count()));
    for (std::int32_t node = 0; node < nodes.count(); ++node) {
        const bool is_roots = root >= 0 && nodes.place_of(root, node) >= 0;
        leads[static_cast<std::size_t>(node)] = is_roots ? root : nodes.on(node).front();
    }
    return leads;
}

/// The exchange between the ranks of a node and its lead.
class Company {
public:
    Company(Schedule& schedule, Nodes& nodes, std::int32_t lead)
        : schedule_(schedule), nodes_(nodes), lead_(nodes.place_of(lead, nodes.own)) {
        if (!find_scratch_of_node(schedule, nodes)) return;
        schedule.shared = &nodes.scratch;
        on_node(schedule, nodes, [&] { slots_.emplace(schedule, 2); });
    }

    bool is_lead() const noexcept { return nodes_.place == lead_; }
    std::int32_t size() const noexcept { return nodes_.size_of(nodes_.own); }

    /// Gives so many bytes of each rank to the lead, which finds them by collected().
    void collect(const std::byte* data, std::uint64_t bytes) {
        bytes_ = bytes;
        own_ = data;
        on_node(schedule_, nodes_, [&] {
            if (slots_ && is_lead()) {
                for_others([&](std::int32_t place) { (void)slots_->of(place, 0, bytes); });
            } else if (slots_) {
                schedule_.copy(data, slots_->own(0, bytes), bytes);
                slots_->give(0, bytes);
            } else if (is_lead()) {
                received_ = schedule_.scratch(times(size(), bytes));
                for_others([&](std::int32_t place) {
                    schedule_.receive(received_ + times(place, bytes), bytes, place);
                });
            } else {
                schedule_.send(data, bytes, lead_);
            }
        });
    }
    const std::byte* collected(std::int32_t place) const noexcept {
        if (place == lead_) return own_;
        return slots_ ? slots_->place(place, 0, bytes_) : received_ + times(place, bytes_);
    }
    /// Copies the collected data one after the other, by place.
    void copy_collected(std::byte* to) {
        for (std::int32_t place = 0; place < size(); ++place)
            schedule_.copy(collected(place), to + times(place, bytes_), bytes_);
    }

    /// Gives data of the lead to the others. Returns their place. At most most_dealt bytes go
    /// through slots.
    const std::byte* deal(const std::byte* data, std::uint64_t bytes) {
        const std::byte* dealt = data;
        on_node(schedule_, nodes_, [&] {
            if (slots_ && is_lead()) {
                schedule_.copy(data, slots_->own(1, bytes), bytes);
                slots_->release(1, bytes);
            } else if (slots_) {
                dealt = slots_->released(lead_, 1, bytes);
            } else {
                // Only the other ranks write there.
                std::byte* const to =
                    is_lead() ? const_cast<std::byte*>(data) : schedule_.scratch(bytes);
                binomial_bcast(schedule_, to, bytes, lead_);
                dealt = to;
            }
        });
        return dealt;
    }
    /// Does the same into the buffer of every rank, for any length, after finish().
    void bcast(std::byte* data, std::uint64_t bytes) {
        on_node(schedule_, nodes_, [&] {
            if (shares_)
                shared_bcast(schedule_, data, bytes, lead_, true);
            else
                binomial_bcast(schedule_, data, bytes, lead_);
        });
    }
    /// Gives the blocks that ranks have, by place, to all, after finish().
    void share(std::span<const Block> blocks) {
        schedule_.among(nodes_.here, nodes_.place, [&] {
            if (shares_) return shared_allgatherv(schedule_, Blocks(blocks));
            for (std::int32_t place = 0; place < schedule_.size; ++place) {
                const Block block = blocks[static_cast<std::size_t>(place)];
                if (block.bytes == 0) continue;
                binomial_bcast(schedule_, block.data, block.bytes, place);
                schedule_.wait();
            }
        });
    }
    /// Ends the use of collected and dealt data. To be called once.
    void finish() {
        if (!slots_) return;
        shares_ = true;
        on_node(schedule_, nodes_, [&] { slots_->finish(1); });
        slots_.reset();
    }

private:
    template <class Function>
    void for_others(Function&& function) {
        for (std::int32_t place = 0; place < size(); ++place)
            if (place != lead_) function(place);
    }

    Schedule& schedule_;
    Nodes& nodes_;
    const std::int32_t lead_;  ///< a place
    bool shares_ = false;      ///< scratch memory, whose slots have been finished
    std::optional<SharedSlots> slots_;
    std::uint64_t bytes_ = 0;  ///< collected from each
    const std::byte* own_ = nullptr;
    std::byte* received_ = nullptr;
};

/// The parts of a buffer, one for each node from this process's on, around, with `bytes` for each
/// rank.
class PartsByNode {
public:
    PartsByNode(Schedule& schedule, const Nodes& nodes, std::uint64_t bytes)
        : nodes_(nodes),
          bytes_(bytes),
          begins_(schedule.scratch_of<std::uint64_t>(static_cast<std::size_t>(nodes.count()) + 1)),
          data_(schedule.scratch(times(nodes.ranks(), bytes))) {
        begins_[0] = 0;
        for (std::size_t i = 0; i + 1 < begins_.size(); ++i)
            begins_[i + 1] = begins_[i] + times(nodes.size_of(node_at(i)), bytes);
    }

    std::byte* data() const noexcept { return data_; }
    /// Calls function(rank, place of its bytes).
    template <class Function>
    void each(Function&& function) const {
        for (std::size_t i = 0; i + 1 < begins_.size(); ++i) {
            std::byte* at = data_ + begins_[i];
            const objects::RanksOfNode there = nodes_.on(node_at(i));
            for (std::int32_t place = 0; place < there.size(); ++place, at += bytes_)
                function(there[place], at);
        }
    }
    /// Gathers parts. Each lead has filled its own part, and the lead of node `node` gets those of
    /// the others. Ranks are nodes. The nodes below a lead in the tree have the parts behind its
    /// own.
    void gather(Schedule& schedule, std::int32_t node) const {
        if (schedule.size <= most_of_root) return gather_directly(schedule, node);
        const Tree tree(schedule, node);
        tree.each_child([&](std::int32_t child, std::int32_t distance) {
            schedule.receive(at(distance), bytes_from(distance, tree.members(distance)), child);
        });
        schedule.wait();
        if (!tree.is_root()) schedule.send(data_, bytes_from(0, tree.members()), tree.parent());
    }
    /// Scatters parts. The lead of node `node` has filled all parts, and each lead gets its own.
    void scatter(Schedule& schedule, std::int32_t node) const {
        if (schedule.size <= most_of_root) return scatter_directly(schedule, node);
        const Tree tree(schedule, node);
        if (!tree.is_root()) {
            schedule.receive(data_, bytes_from(0, tree.members()), tree.parent());
            schedule.wait();
        }
        tree.each_child_farthest_first([&](std::int32_t child, std::int32_t distance) {
            schedule.send(at(distance), bytes_from(distance, tree.members(distance)), child);
        });
    }
    /// Exchanges parts. Each lead has filled its own part, and gets those of the others
    /// (bruck_allgather()).
    void exchange(Schedule& schedule) const {
        const auto number = static_cast<std::int32_t>(begins_.size()) - 1;
        const auto begin = [&](std::int32_t i) { return begins_[static_cast<std::size_t>(i)]; };
        for (std::int32_t distance = 1; distance < number; distance *= 2) {
            const std::int32_t now = std::min(distance, number - distance);
            schedule.receive(data_ + begin(distance), begin(distance + now) - begin(distance),
                             schedule.after(distance));
            schedule.send(data_, begin(now), schedule.before(distance));
            schedule.wait();
        }
    }

private:
    /// The most nodes that send to the root of a gather, or receive from it, without a tree: fewest
    /// copies.
    static constexpr std::int32_t most_of_root = 8;

    void gather_directly(Schedule& schedule, std::int32_t node) const {
        if (schedule.rank != node) return schedule.send(data_, begins_[1], node);
        for (std::size_t i = 1; i + 1 < begins_.size(); ++i)
            schedule.receive(data_ + begins_[i], begins_[i + 1] - begins_[i], node_at(i));
    }
    void scatter_directly(Schedule& schedule, std::int32_t node) const {
        if (schedule.rank != node) return schedule.receive(data_, begins_[1], node);
        for (std::size_t i = 1; i + 1 < begins_.size(); ++i)
            schedule.send(data_ + begins_[i], begins_[i + 1] - begins_[i], node_at(i));
    }
    std::byte* at(std::int32_t part) const noexcept {
        return data_ + begins_[static_cast<std::size_t>(part)];
    }
    std::uint64_t bytes_from(std::int32_t part, std::int32_t parts) const noexcept {
        return begins_[static_cast<std::size_t>(part + parts)] -
            begins_[static_cast<std::size_t>(part)];
    }
    std::int32_t node_at(std::size_t i) const noexcept {
        return (nodes_.own + static_cast<std::int32_t>(i)) % nodes_.count();
    }

    const Nodes& nodes_;
    const std::uint64_t bytes_;
    const std::span<std::uint64_t> begins_;
    std::byte* const data_;
};

// --- calls that fit ---

/// Returns the order in which the call would be combined without levels.
CombinationOrder order_of(const Schedule& schedule, Collective what, std::uint64_t bytes) {
    const objects::Reduction& reduction = schedule.reduction;
    if (reduction.exact()) return CombinationOrder::any;
    Call call{what, schedule.size, bytes, schedule.blocking() ? Needs::blocking : Needs::nothing};
    if (reduction.commutative()) call.has = call.has | Needs::commutative;
    return select(call, schedule.writer.process->settings).order;
}

/// The ways of a reduction.
enum class Way : std::uint8_t {
    flat,
    gathered,   ///< leads have the operands of all ranks, or the sums of all nodes
    exchanged,  ///< carriers have shares of them (exchanged.cpp)
    relayed,    ///< pieces go from node to node (accumulated.cpp)
};

Way way_for(const Schedule& schedule, const Nodes& nodes, Collective what, CombinationOrder order,
            std::uint64_t bytes) {
    if (order == CombinationOrder::unknown) return Way::flat;
    const bool is_free = order == CombinationOrder::any, once = what == Collective::reduce;
    if (schedule.blocking() && bytes > (once ? most_for_lead_once : most_for_lead) &&
        schedule.size <= most_relaying &&
        schedule.reduction.element_bytes <= ScratchLayout::slot_bytes) {
        if (times(schedule.size, bytes) <= times(nodes.fewest, most_of_carrier) &&
            times(nodes.most, bytes) <= ScratchLayout::half_bytes)
            return Way::exchanged;
        if (is_free || order == CombinationOrder::turns) return Way::relayed;
    }
    const std::uint64_t most = once ? most_gathered_once : most_gathered;
    const bool fits = bytes <= most_dealt && (is_free || times(schedule.size, bytes) <= most);
    return fits ? Way::gathered : Way::flat;
}

}  // namespace

bool may_go_in_levels(const Schedule& schedule, const Call& call) {
    if (schedule.local != nullptr || !schedule.writer.engine->base().features.shared_scratch)
        return false;
    const Nodes* const nodes = objects::find_nodes(*schedule.writer.process, schedule.communicator);
    return nodes != nullptr && fits_levels(schedule, *nodes, call);
}

bool fits_levels(const Schedule& schedule, const Nodes& nodes, const Call& call) {
    const std::uint64_t all = times(schedule.size, call.bytes);
    switch (call.what) {
        case Collective::barrier:
        case Collective::bcast: return true;
        case Collective::reduce:
        case Collective::allreduce: {
            const CombinationOrder order = order_of(schedule, call.what, call.bytes);
            return way_for(schedule, nodes, call.what, order, call.bytes) != Way::flat;
        }
        case Collective::gather: return call.bytes <= most_dealt;
        case Collective::scatter: return times(nodes.most, call.bytes) <= most_dealt;
        case Collective::allgather:
            return call.bytes <= most_dealt || may_share_on_nodes(schedule, nodes);
        case Collective::allgatherv: return may_share_on_nodes(schedule, nodes);
        case Collective::alltoall:
            return times(nodes.most, all) <= most_dealt || schedule.size <= most_relaying;
        default: return false;
    }
}

void levels_barrier(Schedule& schedule) {
    Nodes& nodes = nodes_of(schedule);
    const auto leads = leads_of(schedule, nodes, -1);
    Company company(schedule, nodes, leads[static_cast<std::size_t>(nodes.own)]);
    company.collect(nullptr, 0);
    if (company.is_lead())
        among_leads(schedule, nodes, leads, [&] { dissemination_barrier(schedule); });
    (void)company.deal(nullptr, 0);
    company.finish();
}

namespace {

/// Broadcasts from node to node, the root's first. Ranks with the same place on their nodes, the
/// carriers, carry a share of each piece.
class LongBcast {
public:
    LongBcast(Schedule& schedule, Nodes& nodes, Company& company, std::byte* data,
              std::uint64_t bytes, std::int32_t roots_node)
        : schedule_(schedule), nodes_(nodes), company_(company), data_(data), bytes_(bytes) {
        carriers_ = may_share_on_nodes(schedule, nodes) ? std::min(most_carriers, nodes.fewest) : 1;
        share_ = std::max(piece_bytes / static_cast<std::uint64_t>(carriers_), least_share);
        first_ = nodes.own == roots_node;
        const std::int32_t next = (nodes.own + 1) % nodes.count();
        if (nodes.place >= carriers_) return;
        if (next != roots_node) to_ = nodes.on(next)[nodes.place];
        if (!first_) from_ = nodes.on((nodes.own + nodes.count() - 1) % nodes.count())[nodes.place];
    }
    void write() {
        const std::uint64_t piece = times(carriers_, share_);
        const auto blocks = schedule_.scratch_of<Block>(static_cast<std::size_t>(company_.size()));
        receive(0);
        for (std::uint64_t start = 0; start < bytes_; start += piece) {
            if (first_) {
                company_.bcast(data_ + start, std::min(piece, bytes_ - start));
                send(start);
                continue;
            }
            schedule_.wait();
            receive(start + piece);
            send(start);
            for (std::int32_t place = 0; place < company_.size(); ++place)
                blocks[static_cast<std::size_t>(place)] = share_of(place, start);
            company_.share(blocks);
        }
    }

private:
    static constexpr std::int32_t nobody = -1, most_carriers = 8;

    Block share_of(std::int32_t place, std::uint64_t start) const noexcept {
        const std::uint64_t at = std::min(start + times(place, share_), bytes_);
        return {data_ + at, place < carriers_ ? std::min(share_, bytes_ - at) : 0};
    }
    void receive(std::uint64_t start) {
        const Block share = share_of(nodes_.place, start);
        if (from_ != nobody && share.bytes != 0) schedule_.receive(share.data, share.bytes, from_);
    }
    void send(std::uint64_t start) {
        const Block share = share_of(nodes_.place, start);
        if (to_ != nobody && share.bytes != 0) schedule_.send(share.data, share.bytes, to_);
    }

    Schedule& schedule_;
    Nodes& nodes_;
    Company& company_;
    std::byte* const data_;
    const std::uint64_t bytes_;
    std::int32_t carriers_;  ///< of each node
    std::uint64_t share_;
    bool first_;  ///< this node is the root's
    std::int32_t from_ = nobody, to_ = nobody;
};

}  // namespace

void levels_bcast(Schedule& schedule, std::byte* data, std::uint64_t bytes, std::int32_t root) {
    Nodes& nodes = nodes_of(schedule);
    const auto leads = leads_of(schedule, nodes, root);
    const std::int32_t roots_node = nodes.node_of(root);
    Company company(schedule, nodes, leads[static_cast<std::size_t>(nodes.own)]);
    if (bytes > most_dealt) company.finish();
    if (bytes > piece_bytes)
        return LongBcast(schedule, nodes, company, data, bytes, roots_node).write();
    if (company.is_lead())
        among_leads(schedule, nodes, leads,
                    [&] { binomial_bcast(schedule, data, bytes, roots_node); });
    if (bytes > most_dealt) return company.bcast(data, bytes);
    schedule.copy(company.deal(data, bytes), data, bytes);
    company.finish();
}

namespace {

/// Combines the operands of this node. Returns the place of the result.
std::byte* combine_here(Schedule& schedule, Company& company, std::uint64_t count) {
    const std::uint64_t bytes = count * schedule.reduction.element_bytes;
    std::byte* const sum = schedule.scratch(bytes);
    const std::int32_t last = company.size() - 1;
    schedule.copy(company.collected(last), sum, bytes);
    for (std::int32_t place = last - 1; place >= 0; --place)
        schedule.combine(company.collected(place), sum, count);
    return sum;
}

/// Combines the operands of all ranks, which are in these parts.
std::byte* combine_parts(Schedule& schedule, const PartsByNode& parts, CombinationOrder order,
                         std::uint64_t count, std::int32_t root) {
    const auto operands = schedule.scratch_of<std::byte*>(static_cast<std::size_t>(schedule.size));
    parts.each(
        [&](std::int32_t rank, std::byte* at) { operands[static_cast<std::size_t>(rank)] = at; });
    return combine_all(schedule, order, operands, {0, count, count}, root);
}

}  // namespace

void levels_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                   std::int32_t root) {
    Nodes& nodes = nodes_of(schedule);
    const std::uint64_t bytes = count * schedule.reduction.element_bytes;
    const CombinationOrder order = order_of(schedule, Collective::reduce, bytes);
    const Way way = way_for(schedule, nodes, Collective::reduce, order, bytes);
    if (way == Way::exchanged) return exchanged_reduce(schedule, in, out, count, root, order);
    if (way == Way::relayed) return relayed_reduce(schedule, in, out, count, root);
    const auto leads = leads_of(schedule, nodes, root);
    const std::int32_t roots_node = nodes.node_of(root);
    Company company(schedule, nodes, leads[static_cast<std::size_t>(nodes.own)]);
    company.collect(in, bytes);
    if (!company.is_lead()) return company.finish();
    if (order == CombinationOrder::any) {
        std::byte* const sum = combine_here(schedule, company, count);
        company.finish();
        return among_leads(schedule, nodes, leads,
                           [&] { binomial_reduce(schedule, sum, out, count, roots_node); });
    }
    const PartsByNode parts(schedule, nodes, bytes);
    company.copy_collected(parts.data());
    company.finish();
    among_leads(schedule, nodes, leads, [&] { parts.gather(schedule, roots_node); });
    if (schedule.rank == root)
        schedule.copy(combine_parts(schedule, parts, order, count, root), out, bytes);
}

void levels_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                      std::uint64_t count) {
    Nodes& nodes = nodes_of(schedule);
    const std::uint64_t bytes = count * schedule.reduction.element_bytes;
    const CombinationOrder order = order_of(schedule, Collective::allreduce, bytes);
    const Way way = way_for(schedule, nodes, Collective::allreduce, order, bytes);
    if (way == Way::exchanged) return exchanged_allreduce(schedule, in, out, count, order);
    if (way == Way::relayed) return relayed_allreduce(schedule, in, out, count);
    const auto leads = leads_of(schedule, nodes, -1);
    Company company(schedule, nodes, leads[static_cast<std::size_t>(nodes.own)]);
    company.collect(in, bytes);
    const std::byte* result = nullptr;
    if (company.is_lead()) {
        if (order == CombinationOrder::any) {
            std::byte* const sum = combine_here(schedule, company, count);
            among_leads(schedule, nodes, leads,
                        [&] { doubling_allreduce(schedule, sum, sum, count); });
            result = sum;
        } else {
            const PartsByNode parts(schedule, nodes, bytes);
            company.copy_collected(parts.data());
            among_leads(schedule, nodes, leads, [&] { parts.exchange(schedule); });
            result = combine_parts(schedule, parts, order, count, 0);
        }
    }
    schedule.copy(company.deal(result, bytes), out, bytes);
    company.finish();
}

void levels_gather(Schedule& schedule, Block mine, const Blocks& all, std::int32_t root) {
    Nodes& nodes = nodes_of(schedule);
    const auto leads = leads_of(schedule, nodes, root);
    Company company(schedule, nodes, leads[static_cast<std::size_t>(nodes.own)]);
    company.collect(mine.data, mine.bytes);
    if (!company.is_lead()) return company.finish();
    const PartsByNode parts(schedule, nodes, mine.bytes);
    company.copy_collected(parts.data());
    company.finish();
    among_leads(schedule, nodes, leads, [&] { parts.gather(schedule, nodes.node_of(root)); });
    if (schedule.rank != root) return;
    parts.each([&](std::int32_t rank, const std::byte* at) {
        schedule.copy(at, all[rank].data, mine.bytes);
    });
}

void levels_scatter(Schedule& schedule, const Blocks& all, Block mine, std::int32_t root) {
    Nodes& nodes = nodes_of(schedule);
    const auto leads = leads_of(schedule, nodes, root);
    Company company(schedule, nodes, leads[static_cast<std::size_t>(nodes.own)]);
    const std::byte* own = nullptr;  // the blocks of this node
    if (company.is_lead()) {
        const PartsByNode parts(schedule, nodes, mine.bytes);
        if (schedule.rank == root)
            parts.each([&](std::int32_t rank, std::byte* at) {
                schedule.copy(all[rank].data, at, mine.bytes);
            });
        among_leads(schedule, nodes, leads, [&] { parts.scatter(schedule, nodes.node_of(root)); });
        own = parts.data();
    }
    const std::byte* const dealt = company.deal(own, times(company.size(), mine.bytes));
    schedule.copy(dealt + times(nodes.place, mine.bytes), mine.data, mine.bytes);
    company.finish();
}

namespace {

/// Each rank sends its block to one rank of each other node. Then the ranks of a node share what
/// they have.
void long_allgather(Schedule& schedule, Nodes& nodes, const Blocks& all) {
    Company company(schedule, nodes, nodes.here.front());
    company.finish();
    const std::int32_t here = company.size();
    for (std::int32_t distance = 1; distance < nodes.count(); ++distance) {
        const objects::RanksOfNode there =
            nodes.on((nodes.own + nodes.count() - distance) % nodes.count());
        for (std::int32_t place = nodes.place; place < there.size(); place += here)
            schedule.receive(all[there[place]].data, all[there[place]].bytes, there[place]);
    }
    for (std::int32_t distance = 1; distance < nodes.count(); ++distance) {
        const objects::RanksOfNode there = nodes.on((nodes.own + distance) % nodes.count());
        const Block mine = all[schedule.rank];
        schedule.send(mine.data, mine.bytes, there[nodes.place % there.size()]);
    }
    const auto blocks = schedule.scratch_of<Block>(static_cast<std::size_t>(here));
    for (std::int32_t distance = 0; distance < nodes.count(); ++distance) {
        const objects::RanksOfNode there =
            nodes.on((nodes.own + nodes.count() - distance) % nodes.count());
        if (distance == 1) schedule.wait();
        for (std::int32_t first = 0; first < there.size(); first += here) {
            for (std::int32_t place = 0; place < here; ++place)
                blocks[static_cast<std::size_t>(place)] =
                    first + place < there.size() ? all[there[first + place]] : Block{nullptr, 0};
            company.share(blocks);
        }
    }
}

}  // namespace

void levels_allgather(Schedule& schedule, Block mine, const Blocks& all) {
    Nodes& nodes = nodes_of(schedule);
    if (mine.bytes > (may_share_on_nodes(schedule, nodes) ? most_passed : most_dealt)) {
        schedule.copy(mine.data, all[schedule.rank].data, mine.bytes);
        return long_allgather(schedule, nodes, all);
    }
    const auto leads = leads_of(schedule, nodes, -1);
    Company company(schedule, nodes, leads[static_cast<std::size_t>(nodes.own)]);
    company.collect(mine.data, mine.bytes);
    if (company.is_lead()) {
        const PartsByNode parts(schedule, nodes, mine.bytes);
        company.copy_collected(parts.data());
        among_leads(schedule, nodes, leads, [&] { parts.exchange(schedule); });
        parts.each([&](std::int32_t rank, const std::byte* at) {
            schedule.copy(at, all[rank].data, mine.bytes);
        });
    }
    std::byte* const data = all[0].data;
    const std::uint64_t bytes = times(schedule.size, mine.bytes);
    if (bytes <= most_dealt) schedule.copy(company.deal(data, bytes), data, bytes);
    company.finish();
    if (bytes > most_dealt) company.bcast(data, bytes);
}

void levels_allgatherv(Schedule& schedule, const Blocks& all) {
    long_allgather(schedule, nodes_of(schedule), all);
}

namespace {

/// Returns a block among those from the ranks of one node to those of another. They are ordered by
/// destination.
std::byte* block_of(std::byte* blocks, std::uint64_t bytes, std::int32_t sources,
                    std::int32_t source, std::int32_t to) {
    return blocks + times(to * sources + source, bytes);
}

}  // namespace

void levels_alltoall(Schedule& schedule, const Blocks& out, const Blocks& in, bool in_place) {
    Nodes& nodes = nodes_of(schedule);
    const std::uint64_t bytes = in[0].bytes, all = times(schedule.size, bytes);
    if (times(nodes.most, all) > most_dealt)
        return direct_alltoall(schedule, in_place ? copied(schedule, out) : out, in);
    const auto leads = leads_of(schedule, nodes, -1);
    Company company(schedule, nodes, leads[static_cast<std::size_t>(nodes.own)]);
    company.collect(out[0].data, all);
    std::byte* dealt = nullptr;  // data for the ranks of this node, one after the other
    if (company.is_lead()) {
        const std::int32_t here = company.size();
        dealt = schedule.scratch(times(here, all));
        const auto goes_to = schedule.scratch_of<std::byte*>(leads.size());
        const auto comes_from = schedule.scratch_of<std::byte*>(leads.size());
        for (std::int32_t node = 0; node < nodes.count(); ++node) {
            const std::int32_t there = nodes.size_of(node);
            const auto i = static_cast<std::size_t>(node);
            goes_to[i] = schedule.scratch(times(here * there, bytes));
            comes_from[i] =
                node == nodes.own ? goes_to[i] : schedule.scratch(times(here * there, bytes));
            for (std::int32_t to = 0; to < there; ++to)
                for (std::int32_t from = 0; from < here; ++from)
                    schedule.copy(company.collected(from) + times(nodes.on(node)[to], bytes),
                                  block_of(goes_to[i], bytes, here, from, to), bytes);
        }
        among_leads(schedule, nodes, leads, [&] {
            for (std::int32_t distance = 1; distance < schedule.size; ++distance) {
                const std::int32_t from = schedule.before(distance);
                schedule.receive(comes_from[static_cast<std::size_t>(from)],
                                 times(here * nodes.size_of(from), bytes), from);
            }
            for (std::int32_t distance = 1; distance < schedule.size; ++distance) {
                const std::int32_t to = schedule.after(distance);
                schedule.send(goes_to[static_cast<std::size_t>(to)],
                              times(here * nodes.size_of(to), bytes), to);
            }
        });
        for (std::int32_t node = 0; node < nodes.count(); ++node)
            for (std::int32_t to = 0; to < here; ++to)
                for (std::int32_t from = 0; from < nodes.size_of(node); ++from)
                    schedule.copy(block_of(comes_from[static_cast<std::size_t>(node)], bytes,
                                           nodes.size_of(node), from, to),
                                  dealt + times(to, all) + times(nodes.on(node)[from], bytes),
                                  bytes);
    }
    const std::byte* const result = company.deal(dealt, times(company.size(), all));
    schedule.copy(result + times(nodes.place, all), in[0].data, all);
    company.finish();
}

}  // namespace heddle::coll

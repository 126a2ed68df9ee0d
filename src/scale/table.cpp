// SPDX-License-Identifier: BSD-3-Clause
#include "scale/table.hpp"

#include <algorithm>

#include "objects/nodes.hpp"

namespace heddle::scale {
namespace {

struct OfRank {
    std::uint64_t steps = 0;
    double overheads_us = 0;  ///< the sum of its messages
};

/// Writes a rank's schedule. Restores the counts of its communicator.
OfRank look_at(Ranks& ranks, std::int32_t rank, CollectiveCall& call,
               const coll::Algorithm& algorithm, const Parameters& parameters) {
    objects::Communicator& communicator = ranks[rank];
    const objects::SharedScratch own = communicator.scratch;
    const auto nodes = communicator.nodes;
    const objects::SharedScratch of_node = nodes ? nodes->scratch : objects::SharedScratch{};
    coll::Schedule schedule(ranks.writer(), communicator, call.tag());
    call.write(schedule, &algorithm);
    communicator.scratch = own;
    if (nodes) nodes->scratch = of_node;
    OfRank seen{schedule.steps().size()};
    for (const coll::Step& step : schedule.steps()) {
        if (step.kind != coll::Step::Kind::send && step.kind != coll::Step::Kind::receive) continue;
        const bool is_near = ranks.node_of(rank) == ranks.node_of(step.peer);
        const Link& link = is_near ? parameters.within : parameters.between;
        const bool sends = step.kind == coll::Step::Kind::send;
        seen.overheads_us += (sends ? link.o_s : link.o_r).at(step.size);
    }
    return seen;
}

bool has_root(coll::Collective what) noexcept {
    return what == coll::Collective::reduce || what == coll::Collective::gather ||
        what == coll::Collective::scatter;
}

/// Returns how many ranks have as many steps as rank 0.
std::uint64_t ranks_like_first(const Ranks& ranks, const coll::Algorithm& algorithm) noexcept {
    if (has_root(algorithm.what)) return 1;
    const bool leads = coll::includes(algorithm.needs, coll::Needs::nodes);
    return static_cast<std::uint64_t>(leads ? ranks.map().nodes : ranks.size());
}

/// Estimates the steps of all ranks, and the overheads of the busiest. Algorithms in scratch memory
/// have few ranks.
OfRank estimate(Ranks& ranks, CollectiveCall& call, const coll::Algorithm& algorithm,
                const Parameters& parameters) {
    if (coll::includes(algorithm.needs, coll::Needs::shared)) return {};
    const OfRank first = look_at(ranks, 0, call, algorithm, parameters);
    const OfRank last = look_at(ranks, ranks.size() - 1, call, algorithm, parameters);
    return {first.steps * ranks_like_first(ranks, algorithm) +
                last.steps * static_cast<std::uint64_t>(ranks.size()),
            std::max(first.overheads_us, last.overheads_us)};
}

Row row_of(Ranks& ranks, const Parameters& parameters, CollectiveCall& call,
           const coll::Algorithm& algorithm, const TableSettings& settings) {
    Row row{.algorithm = &algorithm, .chosen = &algorithm == &call.chosen()};
    const OfRank estimated = estimate(ranks, call, algorithm, parameters);
    row.us = estimated.overheads_us;
    if (estimated.steps > settings.most_steps) return row;
    row.simulated = true;
    const auto time = [&](int calls) {
        SimulationOptions options = settings.simulation;
        options.calls = calls;
        Simulation simulation(ranks, parameters, options);
        row.outcome = simulation.run(
            [&](coll::Schedule& schedule) { call.write(schedule, &algorithm); }, call.tag());
        return row.outcome.time_us;
    };
    const int calls = settings.simulation.calls;
    row.us = calls == 1 ? time(1) : (time(2 * calls) - time(calls)) / calls;
    return row;
}

void mark_best(std::vector<Row>& rows) {
    Row* best = nullptr;
    for (Row& row : rows)
        if (row.simulated && (best == nullptr || row.us < best->us)) best = &row;
    if (best != nullptr) best->best = true;
}

}  // namespace

const Row& Table::chosen() const {
    return *std::find_if(rows.begin(), rows.end(), [](const Row& row) { return row.chosen; });
}

double Table::loss() const {
    const auto best =
        std::find_if(rows.begin(), rows.end(), [](const Row& row) { return row.best; });
    if (best == rows.end() || best->us <= 0) return 0;
    return chosen().us / best->us;
}

Table compare(Ranks& ranks, const Parameters& parameters, const CallSettings& call,
              const TableSettings& settings) {
    CollectiveCall made(ranks, call);
    Table table{call.what, call.bytes};
    for (const coll::Algorithm& algorithm : coll::algorithms())
        if (made.may_take(algorithm))
            table.rows.push_back(row_of(ranks, parameters, made, algorithm, settings));
    mark_best(table.rows);
    return table;
}

}  // namespace heddle::scale

// SPDX-License-Identifier: BSD-3-Clause
#include "scale/job.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "coll/algorithms.hpp"
#include "coll/neighbor.hpp"
#include "scale/calls.hpp"

namespace heddle::scale {
namespace {

using coll::Collective;
using coll::Schedule;

constexpr std::uint64_t split_bytes = 12;  ///< for one rank: color, key, context
constexpr std::int32_t flooded = 4;        ///< messages from each rank to rank 0

class Job {
public:
    Job(const launch::RegularMap& map, const Parameters& parameters)
        : ranks_(map), parameters_(parameters) {}

    SimulatedJob run() {
        split();
        call("barrier", {.what = Collective::barrier, .with_data = true});
        call("allreduce", {.what = Collective::allreduce, .bytes = 8, .with_data = true});
        neighbours();
        flood();
        end();
        result_.communicator_bytes = ranks_.bytes_of_rank(0);
        return std::move(result_);
    }

private:
    Outcome simulate(const Simulation::Write& write, std::int32_t tag, bool moves_data) {
        return Simulation(ranks_, parameters_, {.moves_data = moves_data, .buffers = false})
            .run(write, tag);
    }
    void call(const char* name, const CallSettings& settings) {
        CollectiveCall made(ranks_, settings);
        const Outcome outcome =
            simulate([&](Schedule& schedule) { made.write(schedule, nullptr); }, made.tag(), true);
        result_.parts.push_back({name, outcome, made.wrong_rank() == -1});
    }
    /// Exchanges the data of a split. Every round each rank passes on all that it has received. The
    /// table that it gathers is not read: the tables of all ranks together would not fit.
    void split() {
        const Outcome outcome = simulate(
            [](Schedule& schedule) {
                std::byte* const table =
                    schedule.scratch(split_bytes * static_cast<std::uint64_t>(schedule.size));
                for (std::int32_t step = 1; step < schedule.size; step *= 2) {
                    const auto bytes = split_bytes *
                        static_cast<std::uint64_t>(std::min(step, schedule.size - step));
                    schedule.receive(table, bytes, schedule.after(step));
                    schedule.send(table, bytes, schedule.before(step));
                    schedule.wait();
                }
            },
            1, false);
        result_.parts.push_back({"split", outcome});
    }
    /// Exchanges with both neighbours at distance one, and with both at the distance of a node.
    void neighbours() {
        const auto size = static_cast<std::size_t>(ranks_.size());
        std::vector<std::array<std::int32_t, 4>> in(size), out(size);
        const std::int32_t far = ranks_.map().size_of(0);
        const auto edges_of = [&](const Schedule& schedule) {
            const std::vector<std::int32_t> edges = {schedule.after(1), schedule.before(1),
                                                     schedule.after(far), schedule.before(far)};
            return topo::Neighbours{edges, edges};
        };
        const Outcome outcome = simulate(
            [&](Schedule& schedule) {
                const auto own = static_cast<std::size_t>(schedule.rank);
                out[own].fill(schedule.rank);
                const auto blocks = [](auto& four) {
                    return coll::Blocks(reinterpret_cast<std::byte*>(four.data()),
                                        sizeof(std::int32_t));
                };
                coll::neighbor_alltoall(schedule, edges_of(schedule), blocks(out[own]),
                                        blocks(in[own]));
            },
            1, true);
        bool right = true;
        for (std::int32_t rank = 0; rank < ranks_.size(); ++rank) {
            const Schedule schedule(ranks_.writer(), ranks_[rank]);
            const auto& got = in[static_cast<std::size_t>(rank)];
            right = right && std::equal(got.begin(), got.end(), edges_of(schedule).sources.begin());
        }
        result_.parts.push_back({"neighbours", outcome, right});
    }
    /// Sends from all ranks to rank 0, which receives from each in order.
    void flood() {
        const auto size = static_cast<std::size_t>(ranks_.size());
        std::array<std::int32_t, flooded> numbers{};
        std::iota(numbers.begin(), numbers.end(), 0);
        std::vector<std::array<std::int32_t, flooded>> got(size);
        const auto bytes_at = [](auto& all, std::int32_t i) {
            return reinterpret_cast<std::byte*>(&all[static_cast<std::size_t>(i)]);
        };
        const Outcome outcome = simulate(
            [&](Schedule& schedule) {
                for (std::int32_t i = 0; i < flooded && schedule.rank != 0; ++i)
                    schedule.send(bytes_at(numbers, i), sizeof(std::int32_t), 0);
                for (std::int32_t i = 0; i < flooded && schedule.rank == 0; ++i)
                    for (std::int32_t from = 1; from < schedule.size; ++from)
                        schedule.receive(bytes_at(got[static_cast<std::size_t>(from)], i),
                                         sizeof(std::int32_t), from);
            },
            1, true);
        const bool right = std::all_of(got.begin() + 1, got.end(),
                                       [&](const auto& of_rank) { return of_rank == numbers; });
        result_.parts.push_back({"flood", outcome, right});
    }
    void end() {
        const Outcome outcome =
            simulate([](Schedule& schedule) { coll::dissemination_barrier(schedule); }, 1, false);
        result_.parts.push_back({"end", outcome});
    }

    Ranks ranks_;
    const Parameters& parameters_;
    SimulatedJob result_;
};

}  // namespace

SimulatedJob simulate_job(const launch::RegularMap& map, const Parameters& parameters) {
    return Job(map, parameters).run();
}

}  // namespace heddle::scale

// SPDX-License-Identifier: BSD-3-Clause
#include "testing/job.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "comm/rank.hpp"
#include "mpi.h"
#include "node/file.hpp"
#include "objects/process.hpp"
#include "p2p/far/network.hpp"
#include "p2p/far/network_worker.hpp"
#include "testing/network.hpp"
#include "transport/any_lane.hpp"

namespace heddle::testing {
namespace {

void run_rank(objects::Process& process, int threads, const std::function<void(int, int)>& body) {
    process.main_thread = &objects::attach(process);
    process.thread_level = MPI_THREAD_MULTIPLE;
    process.begin_world();
    process.open();
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i)
        others.emplace_back([&process, &body, i] {
            objects::attach(process);
            body(process.rank(), i);
        });
    body(process.rank(), 0);
    for (std::thread& other : others) other.join();
    MPI_Finalize();
}

/// The shared memory of one node's ranks.
class Memory {
public:
    Memory(const launch::NodeMap& nodes, std::int32_t node)
        : ranks_(std::count(nodes.begin(), nodes.end(), node)),
          descriptor_(
              node::create_file(node::File::of(static_cast<int>(ranks_), node::Token::fresh()))),
          node_(node::Node::map_all(descriptor_, static_cast<std::size_t>(ranks_))) {
        if (!node_) throw std::runtime_error("no shared memory for the test");
    }
    ~Memory() { close(descriptor_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    const node::Node& node() const { return *node_; }

private:
    const std::ptrdiff_t ranks_;
    const int descriptor_;
    const std::optional<node::Node> node_;
};

/// The addresses of lanes, by rank. All are there before a rank asks.
using Addresses = std::vector<std::string>;

std::unique_ptr<p2p::Network> join(Network& network, Addresses& addresses,
                                   const launch::Numbering& numbers) {
    const transport::Identity identity{static_cast<transport::Peer>(numbers.rank()),
                                       static_cast<transport::Peer>(numbers.size()), 77};
    auto lane =
        std::make_unique<transport::LaneOf<NetworkLane>>(identity, transport::Patience{}, network);
    addresses[static_cast<std::size_t>(numbers.rank())] = lane->address();
    return std::make_unique<p2p::Network>(
        numbers, std::move(lane),
        [&addresses](std::int32_t rank) { return addresses[static_cast<std::size_t>(rank)]; });
}

}  // namespace

MPI_Comm other_world(std::uint32_t number) {
    objects::Process& process =
        *objects::attached_thread()->process;  // also valid between calls that are sections
    objects::Group& group = *process.world->group;
    group.retain();
    return objects::make_communicator(process, *process.world, 1000 + 2 * number, group, nullptr)
        .handle;
}

void run_job(int ranks, int threads, const std::function<void(int rank, int thread)>& body) {
    const char* wanted = std::getenv("HEDDLE_TEST_NODES");
    const int count = wanted == nullptr ? 1 : std::atoi(wanted);
    launch::NodeMap nodes;
    for (int rank = 0; rank < ranks; ++rank) nodes.push_back(rank % count);
    run_job({.nodes = nodes, .threads = threads}, body);
}

void run_job(const Nodes& nodes, const std::function<void(int rank, int thread)>& body) {
    std::map<std::int32_t, Memory> memories;
    for (const std::int32_t node : nodes.nodes) memories.try_emplace(node, nodes.nodes, node);
    Network network(nodes.seed);
    Addresses addresses(nodes.nodes.size());
    std::vector<std::unique_ptr<comm::Rank>> processes;
    for (std::size_t rank = 0; rank < nodes.nodes.size(); ++rank) {
        launch::Job job;
        job.rank = static_cast<int>(rank);
        job.size = static_cast<int>(nodes.nodes.size());
        if (memories.size() > 1) job.nodes = nodes.nodes;
        processes.push_back(std::make_unique<comm::Rank>(
            job, memories.at(nodes.nodes[rank]).node(),
            [&](const launch::Numbering& numbers) { return join(network, addresses, numbers); }));
    }
    std::vector<std::thread> mains;
    for (auto& process : processes)
        mains.emplace_back([&process, &nodes, &body] { run_rank(*process, nodes.threads, body); });
    for (std::thread& main : mains) main.join();
}

void run_jobs(const std::vector<int>& sizes, int threads,
              const std::function<void(std::size_t job, int rank, int thread)>& body) {
    Network network(1);
    const auto open_guest_lane = [&network](transport::Guests& guests, const tool::Settings&) {
        constexpr std::size_t batch = 65536;
        return std::make_unique<transport::LaneOf<NetworkGuestLane>>(
            transport::GuestMembers(guests, true), transport::Patience{}, network, batch);
    };
    std::deque<Memory> memories;
    std::vector<std::unique_ptr<comm::Rank>> processes;
    std::vector<std::thread> mains;
    for (std::size_t number = 0; number < sizes.size(); ++number) {
        const launch::NodeMap nodes(static_cast<std::size_t>(sizes[number]), 0);
        const Memory& memory = memories.emplace_back(nodes, 0);
        for (int rank = 0; rank < sizes[number]; ++rank) {
            launch::Job job;
            job.rank = rank;
            job.size = sizes[number];
            processes.push_back(std::make_unique<comm::Rank>(
                job, memory.node(), comm::Rank::OpenNetwork{}, open_guest_lane));
        }
    }
    std::size_t next = 0;
    for (std::size_t number = 0; number < sizes.size(); ++number)
        for (int rank = 0; rank < sizes[number]; ++rank)
            mains.emplace_back([&process = *processes[next++], &body, number, threads] {
                run_rank(process, threads, [&](int own, int thread) { body(number, own, thread); });
            });
    for (std::thread& main : mains) main.join();
}

}  // namespace heddle::testing

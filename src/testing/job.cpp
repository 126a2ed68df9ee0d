// SPDX-License-Identifier: BSD-3-Clause
#include "testing/job.hpp"

#include <memory>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <vector>

#include "comm/rank.hpp"
#include "launch/node_file.hpp"
#include "mpi.h"
#include "objects/process.hpp"

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

}  // namespace

MPI_Comm other_world(std::uint32_t number) {
    objects::Process& process =
        *objects::attached_thread()->process;  // also between calls that are sections
    auto* twin = objects::Process::make(process.communicators, core::Kind::communicator);
    twin->context = 1000 + 2 * number;
    twin->rank = process.world->rank;
    twin->peers = process.world->peers;
    twin->processes = process.world->processes;
    twin->group = process.world->group;
    twin->errhandler = process.world->errhandler;
    twin->handle = reinterpret_cast<MPI_Comm>(twin);
    return twin->handle;
}

void run_job(int ranks, int threads, const std::function<void(int rank, int thread)>& body) {
    const int descriptor =
        launch::create_node_file(launch::NodeFile::of(ranks, launch::Token::fresh()));
    const auto node = transport::shm::Node::map_all(descriptor, static_cast<std::size_t>(ranks));
    if (!node) throw std::runtime_error("no shared memory for the test");
    std::vector<std::unique_ptr<comm::Rank>> processes;
    for (int rank = 0; rank < ranks; ++rank) {
        launch::Job job;
        job.rank = rank;
        job.size = ranks;
        processes.push_back(std::make_unique<comm::Rank>(job, *node));
    }
    std::vector<std::thread> mains;
    for (auto& process : processes)
        mains.emplace_back([&process, threads, &body] { run_rank(*process, threads, body); });
    for (std::thread& main : mains) main.join();
    close(descriptor);
}

}  // namespace heddle::testing

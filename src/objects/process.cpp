// SPDX-License-Identifier: BSD-3-Clause
#include "objects/process.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <unistd.h>

#include "objects/predefined.hpp"
#include "p2p/engine.hpp"
#include "p2p/recycling.hpp"

namespace heddle::objects {
namespace {

/// Never destroyed: threads may outlive main().
std::atomic<Process*>& program() noexcept {
    static std::atomic<Process*> process{nullptr};
    return process;
}

transport::shm::Node map_node(const launch::Job& job) {
    auto node = transport::shm::Node::map(job.node_descriptor, static_cast<std::size_t>(job.size));
    if (node) return std::move(*node);
    throw std::runtime_error("cannot map the memory that " + std::to_string(job.size) +
                             " ranks share: " + std::strerror(errno));
}

}  // namespace

Process* process_of_program() noexcept { return program().load(acquire); }

Process& need_process_of_program() {
    // Two sessions may be opened at once.
    static std::mutex& lock = *new std::mutex;
    std::lock_guard guard(lock);
    Process* process = program().load(relaxed);
    if (process == nullptr) {
        process = new Process(launch::join());
        program().store(process, release);
    }
    return *process;
}

Process::Process(launch::Job joined) : Process(joined, map_node(joined)) {}

Process::Process(launch::Job joined, transport::shm::Node mapped)
    : job(std::move(joined)),
      node(std::move(mapped)),
      threads(1 << 16),
      requests(std::size_t{1} << 24),
      communicators(1 << 16),
      groups(1 << 20),
      datatypes(1 << 20),
      errhandlers(1 << 16),
      operations(1 << 16),
      sessions(1 << 16),
      settings(tool::settings_for_start()),
      contexts(job.rank, job.size),
      engine(std::make_unique<p2p::Engine>(node, job.rank, requests, settings)),
      recycling(std::make_unique<p2p::Recycling>(contexts, job.rank)) {
    make_predefined(*this);
    node.page(static_cast<std::size_t>(job.rank)).pid.store(static_cast<std::uint32_t>(getpid()), relaxed);
    agree_on_recipe();
}

/// Refuses to start beside a rank with another recipe. Of two, the one that comes later sees the other.
void Process::agree_on_recipe() const {
    const std::uint32_t mine = tool::agreement(settings);
    node.page(static_cast<std::size_t>(job.rank)).recipe.store(mine, seq_cst);
    for (std::int32_t rank = 0; rank < job.size; ++rank) {
        const std::uint32_t theirs = node.page(static_cast<std::size_t>(rank)).recipe.load(seq_cst);
        if (theirs != 0 && theirs != mine)
            throw std::runtime_error("rank " + std::to_string(job.rank) + " has " + tool::print_agreement(mine) +
                                     ", rank " + std::to_string(rank) + " has " +
                                     tool::print_agreement(theirs) + ": all ranks must have the same");
    }
}

void Process::open() noexcept {
    std::lock_guard guard(set_up);
    if (uses_++ != 0) return;
    node.page(static_cast<std::size_t>(job.rank)).stage.store(launch::Stage::initialized, release);
    life.store(Life::initialized, release);
}

bool Process::close() noexcept {
    std::lock_guard guard(set_up);
    if (--uses_ != 0) return false;
    node.page(static_cast<std::size_t>(job.rank)).stage.store(launch::Stage::finalized, release);
    life.store(Life::finalized, release);
    return true;
}

bool Process::is_last_use() noexcept {
    std::lock_guard guard(set_up);
    return uses_ == 1;
}

void Process::begin_world() noexcept {
    named_world_.store(world, relaxed);  // for those who know of MPI_Init, by means of their own
    world_life_.store(Life::initialized, release);
}

void Process::end_world() noexcept {
    // What belongs to no object is raised there, also by sessions that go on.
    set_errhandler(*this, self->errhandler, initial_errhandler(*this));
    named_world_.store(nullptr, relaxed);
    world_life_.store(Life::finalized, release);
}

Process::~Process() = default;

Errhandler* Process::errhandler(MPI_Errhandler handle) noexcept {
    if (handle == MPI_ERRORS_ARE_FATAL) return errors_are_fatal;
    if (handle == MPI_ERRORS_ABORT) return errors_abort;
    if (handle == MPI_ERRORS_RETURN) return errors_return;
    return find(errhandlers, handle, core::Kind::errhandler);
}

}  // namespace heddle::objects

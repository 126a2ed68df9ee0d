// SPDX-License-Identifier: BSD-3-Clause
#include "objects/process.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>

#include "instance/instance.hpp"
#include "objects/file.hpp"
#include "objects/predefined.hpp"
#include "platform/limits.hpp"
#include "platform/printing.hpp"
#include "tool/copies.hpp"

namespace heddle::objects {
namespace {

/// Never destroyed: threads may outlive main().
std::atomic<Process*>& program() noexcept {
    static std::atomic<Process*> process{nullptr};
    return process;
}

constexpr std::size_t most_communicators = std::size_t{1} << 16;
constexpr std::size_t most_datatypes = std::size_t{1} << 18;
constexpr std::size_t most_windows = std::size_t{1} << 14;
/// The addresses that arenas reserve and the memory of everything else, besides what ranks share.
constexpr std::size_t arena_addresses = most_communicators * sizeof(Communicator) +
    most_datatypes * sizeof(Datatype) + most_windows * sizeof(Window) + 2 * core::large_chunk;
constexpr std::size_t first_memory = std::size_t{4} << 20;
/// Memory kept free for the program's use of MPI: requests, messages, memory for collectives.
constexpr std::size_t spare_memory = std::size_t{12} << 20;

/// Returns the number of processes that share the node's memory.
std::size_t processes_here(const launch::Job& job) {
    return static_cast<std::size_t>(job.numbering().here());
}

[[noreturn]] void does_not_fit(const launch::Job& job, const std::string& why) {
    throw std::runtime_error("a job of " + std::to_string(job.size) +
                             " ranks does not fit: " + why);
}

[[noreturn]] void fail_to_map(const launch::Job& job, std::size_t processes) {
    const auto layout = node::Layout::of(processes);
    if (errno == EFBIG) does_not_fit(job, platform::limit_that_forbids({.file = layout.bytes(0)}));
    throw std::runtime_error("cannot map the memory that " + std::to_string(job.size) +
                             " ranks share: " + std::strerror(errno));
}

/// Runs in a forked child: its one thread is no thread of the parent's.
void be_no_rank() noexcept {
    forget_attached_thread();
    if (Process* process = process_of_program()) process->become_copy();
}

/// Says which limit is too low for a rank of such a job.
void look_at_limits(const launch::Job& job) {
    const std::size_t processes = processes_here(job);
    const auto layout = node::Layout::of(processes);
    const std::size_t ends =
        processes * layout.instances * (sizeof(instance::Channel) + sizeof(instance::Inlet));
    const std::size_t data = first_memory + spare_memory + ends;
    const std::string why = platform::limit_that_forbids(
        {.addresses = layout.rings + 2 * processes * layout.pair_bytes + arena_addresses + data,
         .data = data});
    if (!why.empty()) does_not_fit(job, why);
}

}  // namespace

Process* process_of_program() noexcept { return program().load(acquire); }

void be_process_of_program(Process& process) {
    program().store(&process, release);
    pthread_atfork(nullptr, nullptr, be_no_rank);
}

node::Node Process::map_node(const launch::Job& job) {
    look_at_limits(job);
    auto node = node::Node::map(job.node_descriptor, processes_here(job));
    const auto own = static_cast<std::size_t>(job.numbering().own());
    if (!node || !node->map_rings(own, platform::addresses_are_limited()))
        fail_to_map(job, processes_here(job));
    return std::move(*node);
}

Process::Process(launch::Job joined, node::Node mapped)
    : job(std::move(joined)),
      numbers(job.numbering()),
      node(std::move(mapped)),
      threads(1 << 16),
      requests(std::size_t{1} << 24, core::large_chunk, core::Numbers::lower_halves),
      communicators(most_communicators, core::whole),
      groups(1 << 20),
      datatypes(most_datatypes, core::whole),
      errhandlers(1 << 16),
      operations(1 << 16),
      sessions(1 << 16),
      windows(most_windows, core::whole),
      files(std::make_unique<Files>()),
      settings(tool::settings_for_start()),
      contexts(job.rank, job.size) {
    launch::NodeMap().swap(job.nodes);  // `numbers` has them from now on, in less memory
    make_predefined(*this);
    if (settings.line_buffering == tool::Switch::on) platform::protect_output();
    platform::use_copy_row(tool::copy_row_for(settings));
    // launch::join() has written the same, if there is a job to be joined.
    node.page(static_cast<std::size_t>(number()))
        .pid.store(static_cast<std::uint32_t>(getpid()), relaxed);
    agree_on_recipe();
}

void Process::tell_thread_level(int level) noexcept {
    node::Page* const read = job.keeper_page;
    std::atomic<std::int32_t>& told =
        (read != nullptr ? *read : node.page(static_cast<std::size_t>(number()))).thread_level;
    std::int32_t before = told.load(relaxed);
    while (before < level && !told.compare_exchange_weak(before, level, relaxed, relaxed)) {}
}

/// Refuses to start beside a rank with another recipe. The later one of two ranks sees the other's.
void Process::agree_on_recipe() const {
    const std::uint64_t mine = tool::agreement(settings);
    node.page(static_cast<std::size_t>(number())).recipe.store(mine, seq_cst);
    for (std::int32_t process = 0; process < numbers.here(); ++process) {
        const std::uint64_t theirs =
            node.page(static_cast<std::size_t>(process)).recipe.load(seq_cst);
        if (theirs != 0 && theirs != mine)
            throw std::runtime_error(
                "rank " + std::to_string(job.rank) + " has " + tool::print_agreement(mine) +
                ", rank " + std::to_string(numbers.rank_of(process)) + " has " +
                tool::print_agreement(theirs) + ": all ranks must have the same");
    }
}

bool Process::share_memory(std::span<const std::int32_t> processes) const noexcept {
    return std::all_of(processes.begin(), processes.end(),
                       [here = numbers.here()](std::int32_t process) { return process < here; });
}

transport::ProcessName Process::name_of(std::int32_t number) const {
    if (numbers.is_guest(number))
        return guests_
            .load(acquire)  // A1: pairs with R1 in comm::Rank
            ->card(static_cast<transport::Peer>(number - numbers.size()))
            .name;
    return {job_name, static_cast<std::uint32_t>(numbers.rank_of(number))};
}

std::int32_t Process::number_of(const transport::ProcessName& name) const {
    if (name.job == job_name) return numbers.number_of(static_cast<std::int32_t>(name.rank));
    const transport::Guests* const guests = guests_.load(acquire);  // A1
    const auto guest = guests != nullptr ? guests->find(name) : std::nullopt;
    return guest ? numbers.size() + static_cast<std::int32_t>(*guest) : -1;
}

void Process::count_connections(std::span<const std::int32_t> processes,
                                std::int32_t change) noexcept {
    for (const std::int32_t process : processes)
        if (numbers.is_guest(process))
            guests_.load(acquire)->connect(  // A1
                static_cast<transport::Peer>(process - numbers.size()), change);
}

void Process::count_mentions(std::span<const std::int32_t> processes,
                             std::int32_t change) noexcept {
    transport::Guests* const guests = guests_.load(acquire);  // A1
    if (guests == nullptr) return;
    for (const std::int32_t process : processes)
        if (numbers.is_guest(process))
            guests->mention(static_cast<transport::Peer>(process - numbers.size()), change);
}

bool Process::is_connected_with(std::int32_t process) const noexcept {
    return guests_.load(acquire)->connections(  // A1
               static_cast<transport::Peer>(process - numbers.size())) != 0;
}

bool Process::has_guests(std::span<const std::int32_t> processes) const noexcept {
    return std::any_of(processes.begin(), processes.end(),
                       [this](std::int32_t process) { return numbers.is_guest(process); });
}

void Process::open() {
    std::lock_guard guard(set_up);
    if (uses_ == 0 && gave_memory_back_) {
        if (!node.map_rings(static_cast<std::size_t>(number()),
                            platform::addresses_are_limited()) ||
            !memory_is_back())
            fail_to_map(job, static_cast<std::size_t>(numbers.here()));
        gave_memory_back_ = false;
    }
    stays_open();
    if (uses_++ != 0) return;
    node.page(static_cast<std::size_t>(number())).phase.store(node::Phase::initialized, release);
    life.store(Life::initialized, release);
}

bool Process::close() noexcept {
    std::lock_guard guard(set_up);
    if (--uses_ != 0) {
        stays_open();
        return false;
    }
    const node::Phase phase =
        world_life() == Life::finalized ? node::Phase::finalized : node::Phase::closed;
    node.page(static_cast<std::size_t>(number())).phase.store(phase, release);
    life.store(Life::finalized, release);
    return true;
}

bool Process::is_last_use() noexcept {
    std::lock_guard guard(set_up);
    return uses_ == 1;
}

namespace {

/// Leaves the launcher if MPI is closed: the launcher has to notice a program that ends without
/// closing MPI. Does nothing in a child that the program has forked, which is no rank.
void leave_launcher_at_end() {
    Process* const process = process_of_program();
    if (process == nullptr || process->is_copy()) return;
    if (process->life.load(relaxed) == Process::Life::finalized) launch::leave(process->job);
}

}  // namespace

void Process::leave_launcher() noexcept {
    if (!needs_launcher_later()) return launch::leave(job);
    static const bool registered = std::atexit(leave_launcher_at_end) == 0;
    if (!registered) launch::leave(job);
}

void Process::give_memory_back(core::Thread& thread) {
    std::lock_guard guard(set_up);
    if (uses_ != 0) return;
    memory_goes(thread);
    if (world->scratch.memory != nullptr || world->nodes != nullptr) leave_scratch(*this, *world);
    node.unmap();
    thread.requests.drain(requests);
    requests.trim();
    communicators.trim();
    groups.trim();
    datatypes.trim();
    operations.trim();
    windows.trim();
    files->arena.trim();
    gave_memory_back_ = true;
}

void Process::begin_world() noexcept {
    named_world_.store(world, relaxed);  // for those who learn of MPI_Init by means of their own
    world_life_.store(Life::initialized, release);
}

void Process::end_world() noexcept {
    // From now on SELF has the errors that belong to no object, also those of sessions that go on.
    set_errhandler(*this, self->errhandler, initial_errhandler(*this));
    self_has_errhandler.store(true, relaxed);
    named_world_.store(nullptr, relaxed);
    world_life_.store(Life::finalized, release);
}

void Process::become_copy() noexcept {
    life.store(Life::forked, relaxed);
    world_life_.store(Life::forked, relaxed);
    named_world_.store(nullptr, relaxed);
}

Process::~Process() = default;

Errhandler* Process::errhandler(MPI_Errhandler handle) noexcept {
    if (handle == MPI_ERRORS_ARE_FATAL) return errors_are_fatal;
    if (handle == MPI_ERRORS_ABORT) return errors_abort;
    if (handle == MPI_ERRORS_RETURN) return errors_return;
    return named(find(errhandlers, handle, core::Kind::errhandler));
}

File* Process::file(MPI_File handle) noexcept {
    return find(files->arena, handle, core::Kind::file);
}

}  // namespace heddle::objects

// SPDX-License-Identifier: BSD-3-Clause
#include "objects/communicator.hpp"

#include <atomic>
#include <mutex>
#include <new>
#include <utility>

#include "objects/leader_sources.hpp"
#include "objects/nodes.hpp"
#include "objects/process.hpp"
#include "sync/mutex.hpp"

namespace heddle::objects {
namespace {

struct Hint {
    const char* key;
    Flag Hints::* value;
};
constexpr Hint hints[] = {
    {"mpi_assert_no_any_tag", &Hints::no_any_tag},
    {"mpi_assert_no_any_source", &Hints::no_any_source},
    {"mpi_assert_exact_length", &Hints::exact_length},
    {"mpi_assert_allow_overtaking", &Hints::allow_overtaking},
};

/// Guards the peers of a communicator against threads that only hold a request that names it.
sync::Mutex naming;

transport::ProcessName name_of_first(const Process& process, const Group& group) {
    return process.name_of(group.processes.front());
}

}  // namespace

SharedScratch unknown_scratch(const Process& process, const Group& group) noexcept {
    SharedScratch scratch;
    scratch.known = !process.share_memory(group.processes);
    return scratch;
}

Communicator& make_communicator(Process& process, const Communicator& parent, std::uint32_t context,
                                Group& group, Group* remote) {
    Communicator* communicator = Process::make(process.communicators, core::Kind::communicator);
    if (communicator == nullptr) throw std::bad_alloc();
    communicator->group = &group;
    communicator->rank = group.rank;
    communicator->remote = remote;
    const Group& others = remote == nullptr ? group : *remote;
    {
        const std::lock_guard guard(naming);
        communicator->context = context;
        communicator->peers = others.size();
        communicator->processes = others.processes.data();
    }
    communicator->hints = {};
    communicator->handle = reinterpret_cast<MPI_Comm>(communicator);
    communicator->collectives = communicator->calls = 0;
    communicator->scratch = unknown_scratch(process, group);
    communicator->is_first =
        remote == nullptr || name_of_first(process, group) < name_of_first(process, *remote);
    process.count_connections(group.processes, +1);
    if (remote != nullptr) process.count_connections(remote->processes, +1);
    communicator->session = group.session != nullptr ? group.session : parent.session;
    if (communicator->session != nullptr) communicator->session->retain();
    std::lock_guard guard(process.set_up);
    communicator->errhandler = parent.errhandler;
    communicator->errhandler->retain();
    return *communicator;
}

Communicator& local_communicator(Process& process, Communicator& inter) {
    if (Communicator* made = inter.local.load(acquire)) return *made;  // A1: pairs with R1
    inter.group->retain();
    Communicator& mine =
        make_communicator(process, inter, inter.context | local_group_context, *inter.group);
    mine.handle = inter.handle;
    Communicator* first = nullptr;
    if (inter.local.compare_exchange_strong(first, &mine, acq_rel, acquire)) return mine;  // R1
    drop(process, mine);
    return *first;
}

void leave_scratch(const Process& process, Communicator& communicator) noexcept {
    SharedScratch& scratch = communicator.scratch;
    if (scratch.memory != nullptr) process.node.stages().leave(scratch.stage, scratch.memory);
    scratch = {};
    if (const auto nodes = std::exchange(communicator.nodes, nullptr))
        if (nodes->scratch.memory != nullptr)
            process.node.stages().leave(nodes->scratch.stage, nodes->scratch.memory);
}

std::int32_t process_named_by(const Communicator& communicator, std::int32_t rank) noexcept {
    const std::lock_guard guard(naming);
    return rank >= 0 && rank < communicator.peers ? communicator.processes[rank] : -1;
}

namespace {

Communicator* communicator_of_context(Process& process, std::uint32_t context) noexcept {
    for (std::size_t i = 0; Communicator* found = process.communicators.at_place(i); ++i)
        if (found->context == context) return found;
    return nullptr;
}

/// Returns the rank in MPI_COMM_WORLD, or -1 if the process is of another job.
std::int32_t world_rank(const Process& process, std::int32_t number) noexcept {
    return number >= 0 && number < process.numbers.size() ? process.numbers.rank_of(number) : -1;
}

/// Writes the members into the event's set. If one does not fit into the set, the communicator gets
/// no members there.
void tell_members(const Process& process, const Communicator& communicator,
                  node::AwaitedEvent& event) noexcept {
    for (std::int32_t i = 0; i < communicator.peers; ++i) {
        const std::int32_t rank = world_rank(process, communicator.processes[i]);
        if (rank < 0 || rank >= node::AwaitedEvent::most_members) {
            for (std::uint64_t& word : event.members) word = 0;
            return;
        }
        event.add_member(rank);
    }
}

}  // namespace

void tell_communicator(Process& process, std::uint32_t context, node::AwaitedEvent& event,
                       std::int32_t number) noexcept {
    event.context = context;
    event.world_peer = world_rank(process, number);
    const std::lock_guard guard(naming);  // until its end the communicator and its groups stay
    const Communicator* found = communicator_of_context(process, context);
    if (found == nullptr) return;
    event.size = found->peers;
    if (event.peer >= leader_sources) event.peer -= leader_sources;
    if (event.any_peer) tell_members(process, *found, event);
    for (std::int32_t i = 0; i < found->peers && number >= 0; ++i)
        if (found->processes[i] == number) event.peer = i;
    if (number < 0 && event.peer >= 0 && event.peer < found->peers)
        event.world_peer = world_rank(process, found->processes[event.peer]);
    const std::unique_lock names(process.set_up, std::try_to_lock);
    if (names) node::put_text(event.communicator, found->name.c_str());
}

void drop(Process& process, Communicator& communicator) noexcept {
    if (!communicator.release_reference()) return;
    if (Communicator* local = communicator.local.exchange(nullptr, relaxed)) drop(process, *local);
    const std::int32_t remote = communicator.remote == nullptr ? 0 : communicator.remote->size();
    process.count_connections(communicator.group->processes, -1);
    if (communicator.remote != nullptr)
        process.count_connections(communicator.remote->processes, -1);
    leave_scratch(process, communicator);
    std::uint32_t context = 0;
    {
        const std::lock_guard guard(naming);
        communicator.peers = 0;
        communicator.processes = nullptr;
        context = std::exchange(communicator.context, 0);
    }
    if (context != 0 && (context & (local_group_context | context_between_jobs)) == 0)
        process.freed_contexts.add(context, communicator.size() + remote);
    drop(process, *communicator.group);
    if (communicator.remote != nullptr) drop(process, *communicator.remote);
    drop(process, *communicator.errhandler);
    if (communicator.session != nullptr) drop(process, *communicator.session);
    communicator.session = nullptr;
    communicator.remote = nullptr;
    communicator.group = nullptr;
    communicator.errhandler = nullptr;
    communicator.name.clear();
    communicator.attributes.clear();
    communicator.buffer.reset();
    communicator.topology.reset();
    Process::destroy(process.communicators, communicator);
}

void close_handle(Process& process, Communicator& communicator) noexcept {
    communicator.kind.store(core::Kind::none, relaxed);
    drop(process, communicator);
}

void apply_hints(Communicator& communicator, const Info& info) {
    std::lock_guard guard(info_lock());
    for (const Hint& hint : hints) {
        const auto value = info.get(hint.key);
        if (!value || (*value != "true" && *value != "false")) continue;
        communicator.hints.*hint.value = *value == "true";
    }
}

void report_hints(const Communicator& communicator, Info& info) {
    for (const Hint& hint : hints)
        info.set(hint.key, communicator.hints.*hint.value ? "true" : "false");
}

}  // namespace heddle::objects

// SPDX-License-Identifier: BSD-3-Clause
#include "objects/communicator.hpp"

#include <atomic>
#include <mutex>
#include <new>

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

/// Guards who the peers of a communicator are against those who only hold a request that names it.
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
    communicator->context = context;
    communicator->group = &group;
    communicator->rank = group.rank;
    communicator->remote = remote;
    const Group& others = remote == nullptr ? group : *remote;
    {
        const std::lock_guard guard(naming);
        communicator->peers = others.size();
        communicator->processes = others.processes.data();
    }
    communicator->hints = {};
    communicator->handle = reinterpret_cast<MPI_Comm>(communicator);
    communicator->collectives = 0;
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
    if (scratch.memory != nullptr) process.node.leave_stage(scratch.stage, scratch.memory);
    scratch = {};
}

std::int32_t process_named_by(const Communicator& communicator, std::int32_t rank) noexcept {
    const std::lock_guard guard(naming);
    return rank >= 0 && rank < communicator.peers ? communicator.processes[rank] : -1;
}

void drop(Process& process, Communicator& communicator) noexcept {
    if (!communicator.release_reference()) return;
    if (Communicator* local = communicator.local.exchange(nullptr, relaxed)) drop(process, *local);
    const std::int32_t remote = communicator.remote == nullptr ? 0 : communicator.remote->size();
    if (communicator.context != 0 &&
        (communicator.context & (local_group_context | context_between_jobs)) == 0)
        process.freed_contexts.add(communicator.context, communicator.size() + remote);
    process.count_connections(communicator.group->processes, -1);
    if (communicator.remote != nullptr)
        process.count_connections(communicator.remote->processes, -1);
    leave_scratch(process, communicator);
    {
        const std::lock_guard guard(naming);
        communicator.peers = 0;
        communicator.processes = nullptr;
    }
    drop(process, *communicator.group);
    if (communicator.remote != nullptr) drop(process, *communicator.remote);
    drop(process, *communicator.errhandler);
    if (communicator.session != nullptr) drop(process, *communicator.session);
    communicator.session = nullptr;
    communicator.remote = nullptr;
    communicator.group = nullptr;
    communicator.context = 0;
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

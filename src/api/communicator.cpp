// SPDX-License-Identifier: BSD-3-Clause
/// Communicators (MPI 5.0, 7.4).

#include <cstring>
#include <limits>
#include <utility>

#include "api/entry.hpp"
#include "api/making.hpp"
#include "api/messages.hpp"
#include "api/object_arguments.hpp"
#include "comm/recycling.hpp"
#include "dyn/families.hpp"
#include "p2p/buffered.hpp"
#include "platform/hardware.hpp"

namespace heddle::api {

MPI_Comm make(Thread& thread, const Communicator& parent, comm::Part part,
              objects::Session* session) {
    if (part.local.empty()) return MPI_COMM_NULL;
    Process& process = *thread.process;
    if (session == nullptr) session = parent.session;
    objects::Group& group = objects::make_group(process, std::move(part.local), session);
    objects::Group* remote = part.remote.empty()
        ? nullptr
        : &objects::make_group(process, std::move(part.remote), session);
    return objects::make_communicator(process, parent, part.context, group, remote).handle;
}

namespace {

using objects::Members;

int comm_rank(Thread&, Comm comm, Out<int> rank) {
    *rank = comm->rank;
    return MPI_SUCCESS;
}

int comm_size(Thread&, Comm comm, Out<int> size) {
    *size = comm->size();
    return MPI_SUCCESS;
}

int compare_communicators(Thread&, Comm first, Comm second, Out<int> result) {
    if (first.object == second.object) {
        *result = MPI_IDENT;
        return MPI_SUCCESS;
    }
    int groups = objects::compared(first->group->processes, second->group->processes);
    if ((first->remote == nullptr) != (second->remote == nullptr))
        groups = MPI_UNEQUAL;
    else if (first->remote != nullptr)
        groups = objects::weaker(
            groups, objects::compared(first->remote->processes, second->remote->processes));
    *result = groups == MPI_IDENT ? MPI_CONGRUENT : groups;
    return MPI_SUCCESS;
}

int test_inter(Thread&, Comm comm, Out<int> flag) {
    *flag = comm->remote != nullptr;
    return MPI_SUCCESS;
}

int not_inter(Thread& thread, Communicator& communicator) {
    return objects::fail(thread, &communicator, MPI_ERR_COMM,
                         "argument comm: not an intercommunicator");
}

int not_intra(Thread& thread, Communicator& communicator) {
    return objects::fail(thread, &communicator, MPI_ERR_COMM,
                         "argument comm: an intercommunicator");
}

int remote_size(Thread& thread, Comm comm, Out<int> size) {
    if (comm->remote == nullptr) return not_inter(thread, *comm);
    *size = comm->remote->size();
    return MPI_SUCCESS;
}

int remote_group(Thread& thread, Comm comm, Out<MPI_Group> group) {
    if (comm->remote == nullptr) return not_inter(thread, *comm);
    comm->remote->hand_out();
    *group = reinterpret_cast<MPI_Group>(comm->remote);
    return MPI_SUCCESS;
}

// --- making ---

/// Makes a communicator like `parent` except for its context, which is still to be agreed on.
Communicator& twin(Thread& thread, Communicator& parent) {
    parent.group->retain();
    if (parent.remote != nullptr) parent.remote->retain();
    Communicator& made =
        objects::make_communicator(*thread.process, parent, 0, *parent.group, parent.remote);
    made.topology = parent.topology;
    return made;
}

/// A communicator that is being made. Unless it is kept, it is freed, with the attributes that it
/// got.
class Twin {
public:
    Twin(Process& process, Communicator& made) noexcept : process_(process), made_(&made) {}
    ~Twin() {
        if (made_ == nullptr) return;
        (void)objects::delete_attributes(process_, objects::holder(*made_));
        objects::close_handle(process_, *made_);
    }
    Twin(const Twin&) = delete;
    Twin& operator=(const Twin&) = delete;

    MPI_Comm keep() noexcept { return std::exchange(made_, nullptr)->handle; }

private:
    Process& process_;
    Communicator* made_;
};

/// Copies attributes and sets hints.
int furnish(Thread& thread, Communicator& parent, Communicator& made, const Hints& hints) {
    if (hints.object != nullptr) objects::apply_hints(made, *hints);
    const int error =
        objects::copy_attributes(*thread.process, objects::holder(parent), objects::holder(made));
    if (error == MPI_SUCCESS) return MPI_SUCCESS;
    return objects::fail(thread, &parent, error, "a function that copies attributes failed");
}

int dup_with_info(Thread& thread, Comm comm, Hints hints, Out<MPI_Comm> result) {
    *result = MPI_COMM_NULL;
    std::uint32_t context = 0;
    const comm::Participants participants(*comm);
    if (const int error =
            comm::agree_on_context(thread, participants, comm::everybody(participants),
                                   participants.me(), comm::dup_agreement, context))
        return error;
    Communicator& made = twin(thread, *comm);
    Twin keeper(*thread.process, made);
    made.context = context;
    if (const int error = furnish(thread, *comm, made, hints)) return error;
    *result = keeper.keep();
    return MPI_SUCCESS;
}

int duplicate_communicator(Thread& thread, Comm comm, Out<MPI_Comm> result) {
    return dup_with_info(thread, comm, Hints(thread, MPI_INFO_NULL), result);
}

/// Duplicates without waiting. The new communicator gets its context when the request completes.
int idup_with_info(Thread& thread, Comm comm, Hints hints, Out<MPI_Comm> result,
                   Out<MPI_Request> handle) {
    *result = MPI_COMM_NULL;
    Communicator& made = twin(thread, *comm);
    Twin keeper(*thread.process, made);
    if (const int error = furnish(thread, *comm, made, hints)) return error;
    Request* request = nullptr;
    if (const int error = comm::start_to_agree(thread, comm::Participants(*comm), made, request))
        return error;
    *result = keeper.keep();
    if (!request->immortal) return hand_out(thread, *comm, request, *handle);
    *handle = reinterpret_cast<MPI_Request>(request);  // the first member may have told all others
    return MPI_SUCCESS;
}

int idup(Thread& thread, Comm comm, Out<MPI_Comm> result, Out<MPI_Request> handle) {
    return idup_with_info(thread, comm, Hints(thread, MPI_INFO_NULL), result, handle);
}

int split_by(Thread& thread, Communicator& parent, int color, int key, MPI_Comm& result) {
    result = MPI_COMM_NULL;
    comm::Part part;
    if (const int error = comm::split(thread, comm::Participants(parent), color, key, part))
        return error;
    result = make(thread, parent, std::move(part));
    return MPI_SUCCESS;
}

int split(Thread& thread, Comm comm, Raw<int> color, Raw<int> key, Out<MPI_Comm> result) {
    if (color.value < 0 && color.value != MPI_UNDEFINED)
        return objects::fail(thread, comm.object, MPI_ERR_ARG,
                             "argument color: " + std::to_string(color.value) +
                                 " is neither MPI_UNDEFINED nor at least 0");
    return split_by(thread, *comm, color.value, key.value, *result);
}

/// Returns the first place of a participant that shares this one's memory: the same for all that
/// do.
int color_of_node(const Process& process, const comm::Participants& participants) {
    std::int32_t place = 0;
    while (participants.process(place) >= process.numbers.here()) ++place;
    return place;
}

/// Returns the color of a process in a split by hardware. Kinds are counted on each node.
int color_of_hardware(const Process& process, const comm::Participants& participants,
                      const std::string& kind) {
    if (kind == "mpi_shared_memory") return color_of_node(process, participants);
    constexpr int most_of_a_kind = 1 << 16;
    const int number = platform::hardware_of_process(kind);
    return number < 0 ? MPI_UNDEFINED
                      : color_of_node(process, participants) % (1 << 15) * most_of_a_kind + number;
}

/// Returns the color of a process in a split by a process set. The sets are those of every session.
int color_of_set(const Process& process, const std::string& name) {
    if (objects::is_name_of_set(name, objects::world_set)) return 0;
    return objects::is_name_of_set(name, objects::self_set) ? process.rank() : MPI_UNDEFINED;
}

std::string value_of(Hints hints, const char* key) {
    if (hints.object == nullptr) return {};
    std::lock_guard guard(objects::info_lock());
    return std::string(hints->get(key).value_or(""));
}

/// Splits by the largest kind of hardware that divides the processes (MPI 5.0, 7.4.2). The info
/// object then names that kind. A process is in no part if it is not bound within a single one of
/// the kind.
int split_unguided(Thread& thread, Communicator& parent, int key, Hints hints, MPI_Comm& result) {
    constexpr int nowhere = std::numeric_limits<int>::max();
    result = MPI_COMM_NULL;
    objects::Contexts& contexts = thread.process->contexts;
    const comm::Participants everybody(parent);
    for (const char* kind : platform::kinds_of_hardware) {
        const int number = color_of_hardware(*thread.process, everybody, kind);
        comm::Part part;
        const int color = number < 0 ? nowhere : number;
        if (const int error = comm::split(thread, everybody, color, key, part)) return error;
        // The same for all processes, in both groups of an intercommunicator: none asks alone for
        // another kind.
        const bool divided =
            part.local.size() + part.remote.size() != static_cast<std::size_t>(everybody.size());
        if (divided && number >= 0) {
            result = make(thread, parent, std::move(part));
            if (hints.object == nullptr || result == MPI_COMM_NULL) return MPI_SUCCESS;
            std::lock_guard guard(objects::info_lock());
            hints->set("mpi_hw_resource_type", kind);
            return MPI_SUCCESS;
        }
        if ((part.context & objects::context_between_jobs) != 0)
            thread.process->contexts_between_jobs.give_back(part.context);
        else if (part.context != 0 && contexts.owner_of(part.context) == thread.process->rank())
            contexts.give_back(part.context);
        if (divided) return MPI_SUCCESS;
    }
    return MPI_SUCCESS;
}

int split_type(Thread& thread, Comm comm, Raw<int> type, Raw<int> key, Hints hints,
               Out<MPI_Comm> result) {
    int color = MPI_UNDEFINED;
    switch (type.value) {
        case MPI_COMM_TYPE_SHARED:
            color = color_of_node(*thread.process, comm::Participants(*comm));
            break;
        case MPI_COMM_TYPE_RESOURCE_GUIDED:
            color = color_of_set(*thread.process, value_of(hints, "mpi_pset_name"));
            if (color != MPI_UNDEFINED) break;
            [[fallthrough]];
        case MPI_COMM_TYPE_HW_GUIDED:
            color = color_of_hardware(*thread.process, comm::Participants(*comm),
                                      value_of(hints, "mpi_hw_resource_type"));
            break;
        case MPI_COMM_TYPE_HW_UNGUIDED:
            return split_unguided(thread, *comm, key.value, hints, *result);
        case MPI_UNDEFINED: break;
        default:
            return objects::fail(thread, comm.object, MPI_ERR_ARG,
                                 "argument split_type: " + std::to_string(type.value) + " is none");
    }
    return split_by(thread, *comm, color, key.value, *result);
}

/// Finds the ranks of `group` in the parent's local group. All of them must be there.
int ranks_in(Thread& thread, Communicator& parent, const objects::Group& group, Members& ranks) {
    ranks = objects::ranks_of(group.processes, parent.group->processes);
    for (const std::int32_t rank : ranks)
        if (rank == MPI_UNDEFINED)
            return objects::fail(
                thread, &parent, MPI_ERR_GROUP,
                "argument group: a process of the group is not in the communicator");
    return MPI_SUCCESS;
}

/// Makes a communicator of `group`. Sends nothing to processes outside of it.
int create_by(Thread& thread, Communicator& parent, const objects::Group& group, std::int32_t tag,
              MPI_Comm& result) {
    result = MPI_COMM_NULL;
    comm::Part part;
    Members ranks;
    if (const int error = ranks_in(thread, parent, group, ranks)) return error;
    if (group.rank == MPI_UNDEFINED) return MPI_SUCCESS;
    if (const int error = comm::agree_on_context(thread, comm::Participants(parent), ranks,
                                                 group.rank, tag, part.context))
        return error;
    part.local.assign(group.processes.begin(), group.processes.end());
    result = make(thread, parent, std::move(part));
    return MPI_SUCCESS;
}

/// Makes a communicator of `group`. In an intercommunicator all processes must know both groups: a
/// split by place in the group does it.
int create_communicator(Thread& thread, Comm comm, Group group, Out<MPI_Comm> result) {
    if (comm->remote == nullptr)
        return create_by(thread, *comm, *group, comm::create_agreement, *result);
    *result = MPI_COMM_NULL;
    Members ranks;
    if (const int error = ranks_in(thread, *comm, *group, ranks)) return error;
    return split_by(thread, *comm, group->rank == MPI_UNDEFINED ? MPI_UNDEFINED : 0, group->rank,
                    *result);
}

int create_group(Thread& thread, Comm comm, Group group, SendTag tag, Out<MPI_Comm> result) {
    if (comm->remote != nullptr) return not_intra(thread, *comm);
    return create_by(thread, *comm, *group, comm::create_group_agreement(tag.value), *result);
}

// --- freeing ---

int free_communicator(Thread& thread, MPI_Comm& handle, bool with_buffered) {
    Process& process = *thread.process;
    const Comm comm(process, handle);
    if (comm.object == nullptr)
        return objects::fail(thread, nullptr, MPI_ERR_COMM,
                             "argument comm: " + comm.wrong(nullptr));
    if (comm.object == process.world || comm.object == process.self)
        return objects::fail(thread, comm.object, MPI_ERR_COMM,
                             "argument comm: " + comm->name + " cannot be freed");
    if (const int error = objects::delete_attributes(process, objects::holder(*comm)))
        return objects::fail(thread, comm.object, error,
                             "a function that deletes attributes failed");
    std::shared_ptr<p2p::BsendBuffer> buffer;
    {
        std::lock_guard guard(process.set_up);
        buffer = std::move(comm->buffer);
    }
    if (with_buffered && buffer != nullptr && !buffer->flush(thread))
        return objects::fail(thread, comm.object, MPI_ERR_NO_MEM, "no memory for a request");
    const bool between_jobs = (comm->context & objects::context_between_jobs) != 0;
    const std::uint32_t context = comm->context;
    if (between_jobs && with_buffered) comm::leave_together(thread, *comm);
    if (process.parent == handle) process.parent = MPI_COMM_NULL;
    objects::close_handle(process, *comm);
    handle = MPI_COMM_NULL;
    if (between_jobs && with_buffered) process.contexts_between_jobs.give_back(context);
    if (between_jobs && process.families != nullptr) process.families->let_go();
    process.recycling->step(thread);
    return MPI_SUCCESS;
}

int comm_free(Thread& thread, InOut<MPI_Comm> handle) {
    return free_communicator(thread, *handle, false);
}

/// The program is responsible for operations that it has not completed, the library for buffered
/// ones.
int disconnect(Thread& thread, InOut<MPI_Comm> handle) {
    return free_communicator(thread, *handle, true);
}

// --- names and hints ---

int set_communicator_name(Thread& thread, Comm comm, Text name) {
    std::lock_guard guard(thread.process->set_up);
    comm->name.assign(name.value, strnlen(name.value, MPI_MAX_OBJECT_NAME - 1));
    return MPI_SUCCESS;
}

/// A communicator, or the null handle, which has a name, too.
struct NamedComm : Comm {
    using Comm::Comm;
    int error(const Communicator* communicator) const noexcept {
        return handle == MPI_COMM_NULL ? MPI_SUCCESS : Comm::error(communicator);
    }
};

int communicator_name(Thread& thread, NamedComm comm, Out<char> name, Out<int> length) {
    std::lock_guard guard(thread.process->set_up);
    *length = write_text(comm.object == nullptr ? "MPI_COMM_NULL" : comm->name, name.place,
                         MPI_MAX_OBJECT_NAME);
    return MPI_SUCCESS;
}

int set_communicator_info(Thread&, Comm comm, Info info) {
    objects::apply_hints(*comm, *info);
    return MPI_SUCCESS;
}

int communicator_info(Thread&, Comm comm, Out<MPI_Info> result) {
    objects::Info& info = objects::make_info();
    objects::report_hints(*comm, info);
    *result = objects::handle_of(info);
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(2, Comm_rank, comm_rank)
MPI_ENTRY(2, Comm_size, comm_size)
MPI_ENTRY(3, Comm_compare, compare_communicators)
MPI_ENTRY(2, Comm_test_inter, test_inter)
MPI_ENTRY(2, Comm_remote_size, remote_size)
MPI_ENTRY(2, Comm_remote_group, remote_group)
MPI_ENTRY(2, Comm_dup, duplicate_communicator)
MPI_ENTRY(3, Comm_dup_with_info, dup_with_info)
MPI_ENTRY(3, Comm_idup, idup)
MPI_ENTRY(4, Comm_idup_with_info, idup_with_info)
MPI_ENTRY(4, Comm_split, split)
MPI_ENTRY(5, Comm_split_type, split_type)
MPI_ENTRY(3, Comm_create, create_communicator)
MPI_ENTRY(4, Comm_create_group, create_group)
MPI_ENTRY(1, Comm_free, comm_free)
MPI_ENTRY(1, Comm_disconnect, disconnect)
MPI_ENTRY(2, Comm_set_name, set_communicator_name)
MPI_ENTRY(3, Comm_get_name, communicator_name)
MPI_ENTRY(2, Comm_set_info, set_communicator_info)
MPI_ENTRY(2, Comm_get_info, communicator_info)

// SPDX-License-Identifier: BSD-3-Clause
/// Communicators (MPI 5.0, 7.4).

#include <cstring>
#include <numeric>

#include "api/entry.hpp"
#include "api/messages.hpp"
#include "api/object_arguments.hpp"
#include "p2p/agreement.hpp"
#include "p2p/buffered.hpp"

namespace heddle::api {
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

int compare(Thread&, Comm first, Comm second, Out<int> result) {
    if (first.object == second.object) {
        *result = MPI_IDENT;
        return MPI_SUCCESS;
    }
    const int groups = objects::compared(first->group->processes, second->group->processes);
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

int remote_size(Thread& thread, Comm comm, Out<int> size) {
    if (comm->remote == nullptr) return not_inter(thread, *comm);
    *size = comm->remote->size();
    return MPI_SUCCESS;
}

int remote_group(Thread& thread, Comm comm, Out<MPI_Group> group) {
    if (comm->remote == nullptr) return not_inter(thread, *comm);
    comm->remote->retain();
    *group = reinterpret_cast<MPI_Group>(comm->remote);
    return MPI_SUCCESS;
}

// --- making ---

/// One like `parent` but for its context, which is still to be agreed on.
Communicator& twin(Thread& thread, Communicator& parent) {
    parent.group->retain();
    Communicator& made = objects::make_communicator(*thread.process, parent, 0, *parent.group);
    made.topology = parent.topology;
    return made;
}

/// Copies attributes and takes hints; on failure the new communicator is gone.
int furnish(Thread& thread, Communicator& parent, Communicator& made, const Hints& hints) {
    if (hints.object != nullptr) objects::apply_hints(made, *hints);
    const int error = objects::copy_attributes(*thread.process, parent, made);
    if (error == MPI_SUCCESS) return MPI_SUCCESS;
    objects::delete_attributes(*thread.process, made);
    objects::close_handle(*thread.process, made);
    return objects::fail(thread, &parent, error, "a function that copies attributes failed");
}

/// Everybody in the parent, in order.
Members everybody(const Communicator& parent) {
    Members members(static_cast<std::size_t>(parent.size()));
    std::iota(members.begin(), members.end(), 0);
    return members;
}

int dup_with_info(Thread& thread, Comm comm, Hints hints, Out<MPI_Comm> result) {
    *result = MPI_COMM_NULL;
    std::uint32_t context = 0;
    if (const int error = p2p::agree_on_context(thread, *comm, everybody(*comm), comm->rank,
                                                p2p::dup_agreement, context))
        return error;
    Communicator& made = twin(thread, *comm);
    made.context = context;
    if (const int error = furnish(thread, *comm, made, hints)) return error;
    *result = made.handle;
    return MPI_SUCCESS;
}

int duplicate(Thread& thread, Comm comm, Out<MPI_Comm> result) {
    return dup_with_info(thread, comm, Hints(thread, MPI_INFO_NULL), result);
}

/// The context comes while the request is pending, straight to where it belongs.
int idup_with_info(Thread& thread, Comm comm, Hints hints, Out<MPI_Comm> result,
                   Out<MPI_Request> handle) {
    *result = MPI_COMM_NULL;
    Communicator& made = twin(thread, *comm);
    if (const int error = furnish(thread, *comm, made, hints)) return error;
    Request* request = nullptr;
    if (const int error = p2p::start_to_agree(thread, *comm, made.context, request)) {
        objects::close_handle(*thread.process, made);
        return error;
    }
    *result = made.handle;
    if (!request->immortal) return hand_out(thread, *comm, request, *handle);
    *handle = reinterpret_cast<MPI_Request>(request);  // the first member may have told everybody
    return MPI_SUCCESS;
}

int idup(Thread& thread, Comm comm, Out<MPI_Comm> result, Out<MPI_Request> handle) {
    return idup_with_info(thread, comm, Hints(thread, MPI_INFO_NULL), result, handle);
}

/// Of these ranks of the parent, in this order.
MPI_Comm make_part(Thread& thread, Communicator& parent, const Members& ranks, std::uint32_t context) {
    Members processes;
    for (const std::int32_t rank : ranks)
        processes.push_back(parent.group->processes[static_cast<std::size_t>(rank)]);
    objects::Group& group = objects::make_group(*thread.process, std::move(processes));
    return objects::make_communicator(*thread.process, parent, context, group).handle;
}

int split_by(Thread& thread, Communicator& parent, int color, int key, MPI_Comm& result) {
    result = MPI_COMM_NULL;
    Members members;
    std::uint32_t context = 0;
    if (const int error = p2p::split(thread, parent, color, key, members, context)) return error;
    if (color != MPI_UNDEFINED) result = make_part(thread, parent, members, context);
    return MPI_SUCCESS;
}

int split(Thread& thread, Comm comm, Raw<int> color, Raw<int> key, Out<MPI_Comm> result) {
    if (color.value < 0 && color.value != MPI_UNDEFINED)
        return objects::fail(thread, comm.object, MPI_ERR_ARG,
                             "argument color: " + std::to_string(color.value) +
                                 " is neither MPI_UNDEFINED nor at least 0");
    return split_by(thread, *comm, color.value, key.value, *result);
}

/// The part of the machine that a split by hardware asks for: the memory that processes share is all
/// that is known here, and every process of the job has it (one machine).
int split_type(Thread& thread, Comm comm, Raw<int> type, Raw<int> key, Hints hints, Out<MPI_Comm> result) {
    int color = MPI_UNDEFINED;
    switch (type.value) {
        case MPI_COMM_TYPE_SHARED: color = 0; break;
        case MPI_COMM_TYPE_HW_GUIDED: {
            if (hints.object == nullptr) break;
            std::lock_guard guard(objects::info_lock());
            if (hints->get("mpi_hw_resource_type") == "mpi_shared_memory") color = 0;
            break;
        }
        case MPI_COMM_TYPE_HW_UNGUIDED:
        case MPI_COMM_TYPE_RESOURCE_GUIDED:
        case MPI_UNDEFINED: break;
        default:
            return objects::fail(thread, comm.object, MPI_ERR_ARG,
                                 "argument split_type: " + std::to_string(type.value) + " is none");
    }
    return split_by(thread, *comm, color, key.value, *result);
}

/// Nothing is said to processes outside the group.
int create_by(Thread& thread, Communicator& parent, const objects::Group& group, std::int32_t tag,
              MPI_Comm& result) {
    result = MPI_COMM_NULL;
    const Members ranks = objects::ranks_of(group.processes, parent.group->processes);
    for (const std::int32_t rank : ranks)
        if (rank == MPI_UNDEFINED)
            return objects::fail(thread, &parent, MPI_ERR_GROUP,
                                 "argument group: a process of the group is not in the communicator");
    if (group.rank == MPI_UNDEFINED) return MPI_SUCCESS;
    std::uint32_t context = 0;
    if (const int error = p2p::agree_on_context(thread, parent, ranks, group.rank, tag, context))
        return error;
    result = make_part(thread, parent, ranks, context);
    return MPI_SUCCESS;
}

int create(Thread& thread, Comm comm, Group group, Out<MPI_Comm> result) {
    return create_by(thread, *comm, *group, p2p::create_agreement, *result);
}

int create_group(Thread& thread, Comm comm, Group group, SendTag tag, Out<MPI_Comm> result) {
    return create_by(thread, *comm, *group, p2p::create_group_agreement(tag.value), *result);
}

// --- freeing ---

int free_communicator(Thread& thread, MPI_Comm& handle, bool with_buffered) {
    Process& process = *thread.process;
    const Comm comm(process, handle);
    if (comm.object == nullptr)
        return objects::fail(thread, nullptr, MPI_ERR_COMM, "argument comm: " + comm.wrong(nullptr));
    if (comm.object == process.world || comm.object == process.self)
        return objects::fail(thread, comm.object, MPI_ERR_COMM,
                             "argument comm: " + comm->name + " cannot be freed");
    if (const int error = objects::delete_attributes(process, *comm))
        return objects::fail(thread, comm.object, error, "a function that deletes attributes failed");
    std::shared_ptr<p2p::BsendBuffer> buffer;
    {
        std::lock_guard guard(process.set_up);
        buffer = std::move(comm->buffer);
    }
    if (with_buffered && buffer != nullptr && !buffer->flush(thread))
        return objects::fail(thread, comm.object, MPI_ERR_NO_MEM, "no memory for a request");
    objects::close_handle(process, *comm);
    handle = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int comm_free(Thread& thread, InOut<MPI_Comm> handle) {
    return free_communicator(thread, *handle, false);
}

/// Operations that the program has not completed are its own affair; buffered ones are ours.
int disconnect(Thread& thread, InOut<MPI_Comm> handle) {
    return free_communicator(thread, *handle, true);
}

int get_parent(Thread&, Out<MPI_Comm> parent) {
    *parent = MPI_COMM_NULL;  // nobody is spawned
    return MPI_SUCCESS;
}

// --- names and hints ---

int set_name(Thread& thread, Comm comm, Text name) {
    std::lock_guard guard(thread.process->set_up);
    comm->name.assign(name.value, strnlen(name.value, MPI_MAX_OBJECT_NAME - 1));
    return MPI_SUCCESS;
}

int get_name(Thread& thread, Comm comm, Out<char> name, Out<int> length) {
    std::lock_guard guard(thread.process->set_up);
    *length = write_text(comm->name, name.place, MPI_MAX_OBJECT_NAME);
    return MPI_SUCCESS;
}

int set_info(Thread&, Comm comm, Info info) {
    objects::apply_hints(*comm, *info);
    return MPI_SUCCESS;
}

int get_info(Thread&, Comm comm, Out<MPI_Info> result) {
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
MPI_ENTRY(3, Comm_compare, compare)
MPI_ENTRY(2, Comm_test_inter, test_inter)
MPI_ENTRY(2, Comm_remote_size, remote_size)
MPI_ENTRY(2, Comm_remote_group, remote_group)
MPI_ENTRY(2, Comm_dup, duplicate)
MPI_ENTRY(3, Comm_dup_with_info, dup_with_info)
MPI_ENTRY(3, Comm_idup, idup)
MPI_ENTRY(4, Comm_idup_with_info, idup_with_info)
MPI_ENTRY(4, Comm_split, split)
MPI_ENTRY(5, Comm_split_type, split_type)
MPI_ENTRY(3, Comm_create, create)
MPI_ENTRY(4, Comm_create_group, create_group)
MPI_ENTRY(1, Comm_free, comm_free)
MPI_ENTRY(1, Comm_disconnect, disconnect)
MPI_ENTRY(1, Comm_get_parent, get_parent)
MPI_ENTRY(2, Comm_set_name, set_name)
MPI_ENTRY(3, Comm_get_name, get_name)
MPI_ENTRY(2, Comm_set_info, set_info)
MPI_ENTRY(2, Comm_get_info, get_info)

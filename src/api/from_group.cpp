// SPDX-License-Identifier: BSD-3-Clause
/// Communicators out of groups, without a communicator before (MPI 5.0, 7.4.2 and 7.6.2).

#include <cstring>

#include "api/entry.hpp"
#include "api/making.hpp"
#include "api/object_arguments.hpp"
#include "p2p/by_tag.hpp"

namespace heddle::api {
namespace {

using core::Thread;

struct StringTag : Text {
    static constexpr const char* name = "stringtag";
    using Text::Text;
    int error(const Communicator* communicator) const noexcept {
        if (value == nullptr) return Text::error(communicator);
        return strnlen(value, MPI_MAX_STRINGTAG_LEN) < MPI_MAX_STRINGTAG_LEN ? MPI_SUCCESS : MPI_ERR_ARG;
    }
    std::string wrong(const Communicator* communicator) const {
        if (value == nullptr) return Text::wrong(communicator);
        return "longer than " + std::to_string(MPI_MAX_STRINGTAG_LEN - 1) + " characters";
    }
};
struct LocalGroup : Group {
    static constexpr const char* name = "local_group";
    using Group::Group;
};

int not_in(Thread& thread, const char* argument) {
    return refuse(thread, nullptr, MPI_ERR_GROUP, argument, "the calling process is not in the group");
}

/// A communicator of what was agreed on, with what the program wants it to have.
int finish(Thread& thread, p2p::Part part, Hints hints, ErrorHandler handler, MPI_Comm& result) {
    Process& process = *thread.process;
    const MPI_Comm handle = make(thread, *process.self, std::move(part));
    Communicator& made = *process.communicator(handle);
    if (hints.object != nullptr) objects::apply_hints(made, *hints);
    handler->retain();
    objects::drop(process, *std::exchange(made.errhandler, handler.object));
    result = handle;
    return MPI_SUCCESS;
}

int create(Thread& thread, Group group, StringTag tag, Hints hints, ErrorHandler handler,
           Out<MPI_Comm> result) {
    *result = MPI_COMM_NULL;
    if (group->size() == 0) return MPI_SUCCESS;
    if (group->rank == MPI_UNDEFINED) return not_in(thread, Group::name);
    p2p::Part part;
    if (const int error = p2p::create_from_group(thread, *group, tag.value, part)) return error;
    return finish(thread, std::move(part), hints, handler, *result);
}

/// What only the leader's arguments say.
p2p::Route route_to(Thread& thread, const objects::Group& local, Group remote, int leader, const char* tag) {
    const auto refused = [&](int error_class, const char* argument, const std::string& detail) {
        p2p::Route none;
        none.error = refuse(thread, nullptr, error_class, argument, detail);
        return none;
    };
    if (remote.object == nullptr) return refused(MPI_ERR_GROUP, "remote_group", remote.wrong(nullptr));
    if (leader < 0 || leader >= remote->size())
        return refused(MPI_ERR_RANK, "remote_leader",
                       "rank " + std::to_string(leader) + " is not in the group, which has " +
                           std::to_string(remote->size()) + " processes");
    if (!objects::intersected(local.processes, remote->processes).empty())
        return refused(MPI_ERR_GROUP, "remote_group", "a process is in both groups");
    return p2p::to_leader(thread, remote->processes[static_cast<std::size_t>(leader)], tag);
}

int create_inter(Thread& thread, LocalGroup local, Raw<int> local_leader, Raw<MPI_Group> remote,
                 Raw<int> remote_leader, StringTag tag, Hints hints, ErrorHandler handler,
                 Out<MPI_Comm> result) {
    *result = MPI_COMM_NULL;
    if (local->size() == 0) return MPI_SUCCESS;
    if (local->rank == MPI_UNDEFINED) return not_in(thread, LocalGroup::name);
    if (local_leader.value < 0 || local_leader.value >= local->size())
        return refuse(thread, nullptr, MPI_ERR_RANK, "local_leader",
                      "rank " + std::to_string(local_leader.value) + " is not in the group, which has " +
                          std::to_string(local->size()) + " processes");
    p2p::Route route;
    if (local->rank == local_leader.value)
        route = route_to(thread, *local, Group(*thread.process, remote.value), remote_leader.value, tag.value);
    p2p::Part part;
    if (const int error =
            p2p::create_from_groups(thread, *local, local_leader.value, route, tag.value, part))
        return error;
    return finish(thread, std::move(part), hints, handler, *result);
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(5, Comm_create_from_group, create)
MPI_ENTRY(8, Intercomm_create_from_groups, create_inter)

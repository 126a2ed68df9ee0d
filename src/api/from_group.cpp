// SPDX-License-Identifier: BSD-3-Clause
/// Makes communicators of groups, without a communicator before (MPI 5.0, 7.4.2 and 7.6.2).
///
/// Errors go to the error handler that the new communicator would have: a program of sessions has
/// no other one.

#include <cstring>
#include <utility>

#include "api/entry.hpp"
#include "api/making.hpp"
#include "api/object_arguments.hpp"
#include "comm/by_tag.hpp"

namespace heddle::api {
namespace {

using core::Thread;

struct StringTag : Text {
    static constexpr const char* name = "stringtag";
    using Text::Text;
    int error(const Communicator* communicator) const noexcept {
        if (!is_memory(value)) return Text::error(communicator);
        return strnlen(value, MPI_MAX_STRINGTAG_LEN) < MPI_MAX_STRINGTAG_LEN ? MPI_SUCCESS
                                                                             : MPI_ERR_ARG;
    }
    std::string wrong(const Communicator* communicator) const {
        if (!is_memory(value)) return Text::wrong(communicator);
        return "longer than " + std::to_string(MPI_MAX_STRINGTAG_LEN - 1) + " characters";
    }
};
/// A group that the caller is in, or an empty one.
struct OwnGroup : Group {
    using Group::Group;
    int error(const Communicator* communicator) const noexcept {
        const bool outside =
            object != nullptr && object->size() != 0 && object->rank == MPI_UNDEFINED;
        return outside ? MPI_ERR_GROUP : Group::error(communicator);
    }
    std::string wrong(const Communicator* communicator) const {
        return object == nullptr ? Group::wrong(communicator)
                                 : "the calling process is not in the group";
    }
};
HEDDLE_NAMED(LocalGroup, OwnGroup, "local_group")
struct CommHandler : ErrorHandler {
    using ErrorHandler::ErrorHandler;
    int error(const Communicator*) const noexcept {
        const bool fits =
            object != nullptr && object->is_for(objects::Errhandler::For::communicator);
        return fits ? MPI_SUCCESS : MPI_ERR_ERRHANDLER;
    }
    std::string wrong(const Communicator* communicator) const {
        return object == nullptr ? ErrorHandler::wrong(communicator)
                                 : "an error handler for another kind of object";
    }
};

/// An argument that the implementation checks, since the handler of its errors must be known first.
template <class Kind>
struct Unchecked : Kind {
    using Kind::Kind;
    int error(const Communicator*) const noexcept { return MPI_SUCCESS; }
    int check(Thread& thread, Communicator& raised_on) const {
        const int error = Kind::error(nullptr);
        if (error == MPI_SUCCESS) return MPI_SUCCESS;
        return refuse(thread, &raised_on, error, Kind::name, Kind::wrong(nullptr));
    }
};

/// A stand-in for the communicator that is still to be made. Errors call its error handler, with
/// MPI_COMM_NULL.
class Unborn {
public:
    Unborn(Process& process, CommHandler handler)
        : process_(process), stand_in_(make_stand_in(process, *handler)) {}
    ~Unborn() { objects::drop(process_, stand_in_); }
    Unborn(const Unborn&) = delete;
    Unborn& operator=(const Unborn&) = delete;

    Communicator& communicator() const noexcept { return stand_in_; }

private:
    static Communicator& make_stand_in(Process& process, objects::Errhandler& handler) {
        process.self->group->retain();
        Communicator& made =
            objects::make_communicator(process, *process.self, 0, *process.self->group);
        made.kind.store(core::Kind::none, relaxed);  // no handle names it
        made.handle = MPI_COMM_NULL;
        objects::set_errhandler(process, made.errhandler, handler);
        return made;
    }

    Process& process_;
    Communicator& stand_in_;
};

/// Makes a communicator of the agreed part, from the session of `group`, with the program's hints
/// and handler.
int finish(Thread& thread, const objects::Group& group, comm::Part part, Hints hints,
           CommHandler handler, MPI_Comm& result) {
    Process& process = *thread.process;
    const MPI_Comm handle = make(thread, *process.self, std::move(part), group.session);
    Communicator& made = *process.communicator(handle);
    if (hints.object != nullptr) objects::apply_hints(made, *hints);
    objects::set_errhandler(process, made.errhandler, *handler);
    result = handle;
    return MPI_SUCCESS;
}

/// Returns the first error among those of several arguments.
template <class... Arguments>
int check_all(Thread& thread, Communicator& raised_on, const Arguments&... arguments) {
    int error = MPI_SUCCESS;
    (void)((error = arguments.check(thread, raised_on), error != MPI_SUCCESS) || ...);
    return error;
}

int create(Thread& thread, Unchecked<OwnGroup> group, Unchecked<StringTag> tag,
           Unchecked<Hints> hints, CommHandler handler, Unchecked<Out<MPI_Comm>> result) {
    const Unborn unborn(*thread.process, handler);
    Communicator& errors = unborn.communicator();
    if (const int error = check_all(thread, errors, group, tag, hints, result)) return error;
    *result = MPI_COMM_NULL;
    if (group->size() == 0) return MPI_SUCCESS;
    comm::Part part;
    if (const int error = comm::create_from_group(thread, errors, *group, tag.value, part))
        return error;
    return finish(thread, *group, std::move(part), hints, handler, *result);
}

std::string no_rank_of(int rank, const objects::Group& group) {
    return "rank " + std::to_string(rank) + " is not in the group, which has " +
        std::to_string(group.size()) + " processes";
}

/// Returns the route, which only the leader's arguments tell.
comm::Route route_to(Thread& thread, Communicator& errors, const objects::Group& local,
                     Group remote, int leader, const char* tag) {
    const auto refused = [&](int error_class, const char* argument, const std::string& detail) {
        comm::Route none;
        none.error = refuse(thread, &errors, error_class, argument, detail);
        return none;
    };
    if (remote.object == nullptr)
        return refused(MPI_ERR_GROUP, "remote_group", remote.wrong(nullptr));
    if (leader < 0 || leader >= remote->size())
        return refused(MPI_ERR_RANK, "remote_leader", no_rank_of(leader, *remote));
    if (!objects::intersected(local.processes, remote->processes).empty())
        return refused(MPI_ERR_GROUP, "remote_group", "a process is in both groups");
    return comm::to_leader(thread, errors, remote->processes[static_cast<std::size_t>(leader)],
                           tag);
}

int create_inter(Thread& thread, Unchecked<LocalGroup> local, Raw<int> local_leader,
                 Raw<MPI_Group> remote, Raw<int> remote_leader, Unchecked<StringTag> tag,
                 Unchecked<Hints> hints, CommHandler handler, Unchecked<Out<MPI_Comm>> result) {
    const Unborn unborn(*thread.process, handler);
    Communicator& errors = unborn.communicator();
    if (const int error = check_all(thread, errors, local, tag, hints, result)) return error;
    *result = MPI_COMM_NULL;
    if (local->size() == 0) return MPI_SUCCESS;
    if (local_leader.value < 0 || local_leader.value >= local->size())
        return refuse(thread, &errors, MPI_ERR_RANK, "local_leader",
                      no_rank_of(local_leader.value, *local));
    comm::Route route;
    if (local->rank == local_leader.value)
        route = route_to(thread, errors, *local, Group(*thread.process, remote.value),
                         remote_leader.value, tag.value);
    comm::Part part;
    if (const int error = comm::create_from_groups(thread, errors, *local, local_leader.value,
                                                   route, tag.value, part))
        return error;
    return finish(thread, *local, std::move(part), hints, handler, *result);
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(5, Comm_create_from_group, create)
MPI_ENTRY(8, Intercomm_create_from_groups, create_inter)

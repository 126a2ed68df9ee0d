// SPDX-License-Identifier: BSD-3-Clause
/// Makes intercommunicators of two groups, and one group of them again (MPI 5.0, 7.6).

#include "api/entry.hpp"
#include "api/making.hpp"
#include "comm/leaders.hpp"

namespace heddle::api {
namespace {

using core::Thread;

struct LocalComm : Comm {
    static constexpr const char* name = "local_comm";
    using Comm::Comm;
    int error(const Communicator* communicator) const noexcept {
        return object != nullptr && object->remote != nullptr ? MPI_ERR_COMM
                                                              : Comm::error(communicator);
    }
    std::string wrong(const Communicator* communicator) const {
        return object != nullptr ? "an intercommunicator" : Comm::wrong(communicator);
    }
};
struct InterComm : Comm {
    static constexpr const char* name = "intercomm";
    using Comm::Comm;
    int error(const Communicator* communicator) const noexcept {
        return object != nullptr && object->remote == nullptr ? MPI_ERR_COMM
                                                              : Comm::error(communicator);
    }
    std::string wrong(const Communicator* communicator) const {
        return object != nullptr ? "not an intercommunicator" : Comm::wrong(communicator);
    }
};
struct LocalLeader : Dest {
    static constexpr const char* name = "local_leader";
    using Dest::Dest;
    int error(const Communicator* communicator) const noexcept {
        return is_rank(rank, communicator) ? MPI_SUCCESS : MPI_ERR_RANK;
    }
};

/// Returns the route, which only the leader's arguments tell.
comm::Route route_to_group(Thread& thread, Comm peer, int remote_leader, int tag) {
    const auto refused = [&](int error_class, const char* argument, const std::string& detail) {
        comm::Route none;
        none.error = refuse(thread, peer.object, error_class, argument, detail);
        return none;
    };
    if (peer.object == nullptr) return refused(MPI_ERR_COMM, "peer_comm", peer.wrong(nullptr));
    if (!is_rank(remote_leader, peer.object))
        return refused(MPI_ERR_RANK, "remote_leader",
                       Dest(*thread.process, remote_leader).wrong(peer.object));
    if (peer->processes[remote_leader] == thread.process->number())
        return refused(MPI_ERR_RANK, "remote_leader",
                       "rank " + std::to_string(remote_leader) + " is the calling process");
    return comm::through(*peer, remote_leader, tag);
}

int create_intercommunicator(Thread& thread, LocalComm local, LocalLeader leader,
                             Raw<MPI_Comm> peer, Raw<int> remote_leader, SendTag tag,
                             Out<MPI_Comm> result) {
    *result = MPI_COMM_NULL;
    comm::Route route;
    if (local->rank == leader.rank)
        route = route_to_group(thread, Comm(*thread.process, peer.value), remote_leader.value,
                               tag.value);
    comm::Part part;
    if (const int error =
            comm::introduce(thread, comm::Participants(*local), leader.rank, route, part))
        return error;
    *result = make(thread, *local, std::move(part));
    return MPI_SUCCESS;
}

int merge(Thread& thread, InterComm inter, Raw<int> high, Out<MPI_Comm> result) {
    *result = MPI_COMM_NULL;
    comm::Part part;
    if (const int error = comm::merge(thread, comm::Participants(*inter), high.value != 0, part))
        return error;
    *result = make(thread, *inter, std::move(part));
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(6, Intercomm_create, create_intercommunicator)
MPI_ENTRY(3, Intercomm_merge, merge)

// SPDX-License-Identifier: BSD-3-Clause
/// Barrier and broadcast (MPI 5.0, 6.3 and 6.4), and what the forms of all collectives share.

#include "api/collective_forms.hpp"

namespace heddle::api {

int hand_out_collective(Thread& thread, std::unique_ptr<coll::Execution> execution,
                        MPI_Request& handle) {
    Communicator& communicator = execution->schedule.communicator;
    Request* request = coll::start(thread, std::move(execution));
    if (request == nullptr || !request->immortal)
        return hand_out(thread, communicator, request, handle);
    handle = reinterpret_cast<MPI_Request>(request);
    return MPI_SUCCESS;
}

int hand_out_persistent(Thread& thread, std::unique_ptr<coll::Execution> execution,
                        MPI_Request& handle) {
    Communicator& communicator = execution->schedule.communicator;
    Request* request = coll::make_persistent(thread, std::move(execution));
    return hand_out(thread, communicator, request, handle);
}

namespace {

using coll::Collective;

int barrier(const Site& site) {
    coll::barrier(site.schedule);
    return MPI_SUCCESS;
}

int bcast(const Site& site, BcastBuffer buffer, Count count, Type type, Root root) {
    Data data;
    const Use use = site.is(root) ? Use::in : Use::out;
    if (const int error = site.measure(buffer, count, type, 1, use, data)) return error;
    coll::bcast(site.schedule, data.address, data.bytes, root.rank);
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

HEDDLE_COLLECTIVE(1, Barrier, 2, Ibarrier, 3, Barrier_init, barrier)
HEDDLE_COLLECTIVE_C(5, Bcast, 6, Ibcast, 7, Bcast_init, bcast)

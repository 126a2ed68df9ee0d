// SPDX-License-Identifier: BSD-3-Clause
/// Barrier and broadcast (MPI 5.0, 6.3 and 6.4), and the common parts of the forms of all
/// collectives.

#include "api/collective_forms.hpp"

namespace heddle::api {

void Site::pack(const objects::Datatype& type, std::uint64_t count, std::int64_t blocks, Use use,
                Data& data) const {
    std::byte* const elements = data.address;
    data.bytes = count * static_cast<std::uint64_t>(type.size);
    data.address = schedule.packed(type, elements, data.bytes * static_cast<std::uint64_t>(blocks),
                                   use == Use::in || use == Use::in_out, use != Use::in);
    if (use != Use::own_in) return;
    const auto own = static_cast<std::uint64_t>(schedule.rank);
    schedule.pack(type, elements + static_cast<std::int64_t>(own * count) * type.extent,
                  data.address + own * data.bytes, data.bytes);
}

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
    if (site.inter())
        coll::inter::barrier(site.schedule);
    else
        coll::barrier(site.schedule);
    return MPI_SUCCESS;
}

int bcast(const Site& site, BcastBuffer buffer, Count count, Type type, Root root) {
    const Part part = site.part(root);
    Data data;
    if (part.root || part.member)
        if (const int error =
                site.measure(buffer, count, type, 1, part.root ? Use::in : Use::out, data))
            return error;
    if (site.inter())
        coll::inter::bcast(site.schedule, data.address, data.bytes, root.rank);
    else
        coll::bcast(site.schedule, data.address, data.bytes, root.rank);
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

HEDDLE_COLLECTIVE(1, Barrier, 2, Ibarrier, 3, Barrier_init, barrier)
HEDDLE_COLLECTIVE_C(5, Bcast, 6, Ibcast, 7, Bcast_init, bcast)

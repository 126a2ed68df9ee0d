// SPDX-License-Identifier: BSD-3-Clause
/// Processes that are not of this job: ports, names, connections (MPI 5.0, 11.9 and 11.10). How they are started:
/// api/spawn.cpp.

#include <exception>
#include <string>

#include "api/collective_arguments.hpp"
#include "api/entry.hpp"
#include "api/making.hpp"
#include "api/object_arguments.hpp"
#include "dyn/joining.hpp"
#include "dyn/meeting.hpp"

namespace heddle::api {
namespace {

struct PortName : Text {
    static constexpr const char* name = "port_name";
    using Text::Text;
};
struct NewPortName : Out<char> {
    static constexpr const char* name = "port_name";
    using Out::Out;
};

/// Whom a group of processes of this job meets others by.
struct MeetingComm : Comm {
    using Comm::Comm;
    int error(const Communicator* communicator) const noexcept {
        return object != nullptr && object->remote != nullptr ? MPI_ERR_COMM
                                                              : Comm::error(communicator);
    }
    std::string wrong(const Communicator* communicator) const {
        return object != nullptr ? "an intercommunicator" : Comm::wrong(communicator);
    }
};

int open_port(Thread& thread, Hints, NewPortName name) try {
    write_text(dyn::open_port(*thread.process), name.place, MPI_MAX_PORT_NAME);
    return MPI_SUCCESS;
} catch (const std::exception& problem) {
    return objects::fail(thread, nullptr, MPI_ERR_OTHER,
                         "this process cannot be reached by others: " + std::string(problem.what()));
}

int close_port(Thread& thread, PortName name) {
    if (dyn::close_port(thread, name.value)) return MPI_SUCCESS;
    return refuse(thread, nullptr, MPI_ERR_PORT, PortName::name,
                  "it is not that of a port which this process has open");
}

using Meet = int(Thread&, Communicator&, std::int32_t, std::string_view, comm::Part&);

int meet(Thread& thread, Communicator& comm, const Raw<const char*>& port, const Root& root,
         MPI_Comm& result, Meet& by) {
    result = MPI_COMM_NULL;
    const bool is_root = comm.rank == root.rank;
    comm::Part part;
    // What is no memory is no port, which the root tells the others.
    const std::string_view name = is_root && is_memory(port.value) ? port.value : "";
    if (const int error = by(thread, comm, root.rank, name, part)) return error;
    result = make(thread, comm, std::move(part));
    return MPI_SUCCESS;
}

int accept(Thread& thread, Raw<const char*> port, Raw<MPI_Info>, Root root, MeetingComm comm,
           Out<MPI_Comm> result) {
    return meet(thread, *comm, port, root, *result, dyn::accept);
}

int connect(Thread& thread, Raw<const char*> port, Raw<MPI_Info>, Root root, MeetingComm comm,
            Out<MPI_Comm> result) {
    return meet(thread, *comm, port, root, *result, dyn::connect);
}

int join(Thread& thread, Raw<int> descriptor, Out<MPI_Comm> result) {
    *result = MPI_COMM_NULL;
    Communicator& self = *thread.process->self;
    comm::Part part;
    if (const int error = dyn::join(thread, self, descriptor.value, part)) return error;
    *result = make(thread, self, std::move(part));
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(2, Open_port, open_port)
MPI_ENTRY(1, Close_port, close_port)
MPI_ENTRY(5, Comm_accept, accept)
MPI_ENTRY(5, Comm_connect, connect)
MPI_ENTRY(2, Comm_join, join)

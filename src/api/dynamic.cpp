// SPDX-License-Identifier: BSD-3-Clause
/// Processes that are not of this job: ports, names, connections (MPI 5.0, 11.9 and 11.10).
/// api/spawn.cpp starts them.

#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "api/collective_arguments.hpp"
#include "api/entry.hpp"
#include "api/making.hpp"
#include "api/object_arguments.hpp"
#include "dyn/joining.hpp"
#include "dyn/meeting.hpp"
#include "dyn/names.hpp"

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

/// The communicator by which processes of this job meet others.
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
    return objects::fail(
        thread, nullptr, MPI_ERR_OTHER,
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
    thread.process->forget_guests();
    const bool is_root = comm.rank == root.rank;
    comm::Part part;
    // An address that is no memory counts as no port, which the root tells the others.
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

// --- names ---

struct ServiceName : Text {
    static constexpr const char* name = "service_name";
    using Text::Text;
};

dyn::Names& names_of(Process& process) {
    const std::lock_guard guard(process.set_up);
    if (process.names == nullptr)
        process.names = std::make_shared<dyn::Names>(process.settings.names);
    return *process.names;
}

/// Calls `use` with the published names. Errors of the service are raised like errors without an
/// object.
template <class Use>
int use_names(Thread& thread, Use&& use) try {
    return use(names_of(*thread.process));
} catch (const std::exception& problem) {
    return objects::fail(thread, nullptr, MPI_ERR_OTHER, problem.what());
}

int publish(Thread& thread, ServiceName service, Hints, PortName port) {
    return use_names(thread, [&](dyn::Names& names) -> int {
        if (names.publish(service.value, port.value)) return MPI_SUCCESS;
        return refuse(thread, nullptr, MPI_ERR_SERVICE, ServiceName::name,
                      "'" + std::string(service.value) + "' is published already");
    });
}

int unpublish(Thread& thread, ServiceName service, Hints, PortName) {
    return use_names(thread, [&](dyn::Names& names) -> int {
        if (names.unpublish(service.value)) return MPI_SUCCESS;
        return refuse(thread, nullptr, MPI_ERR_SERVICE, ServiceName::name,
                      "this process has not published '" + std::string(service.value) + "'");
    });
}

int look_up(Thread& thread, ServiceName service, Hints, NewPortName port) {
    return use_names(thread, [&](dyn::Names& names) -> int {
        const auto found = names.look_up(service.value);
        if (found) {
            write_text(*found, port.place, MPI_MAX_PORT_NAME);
            return MPI_SUCCESS;
        }
        return refuse(thread, nullptr, MPI_ERR_NAME, ServiceName::name,
                      "no process has published '" + std::string(service.value) + "'");
    });
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
MPI_ENTRY(3, Publish_name, publish)
MPI_ENTRY(3, Unpublish_name, unpublish)
MPI_ENTRY(3, Lookup_name, look_up)

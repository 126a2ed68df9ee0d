// SPDX-License-Identifier: BSD-3-Clause
#include "dyn/meeting.hpp"

#include <exception>
#include <string>
#include <utility>

#include "objects/errors.hpp"
#include "objects/process.hpp"

namespace heddle::dyn {
namespace {

/// Returns the route between the two roots. It follows from the connecting root's key, which no
/// other process has.
comm::Route route_by(objects::Communicator& comm, comm::Key key, bool accepts, std::int32_t other,
                     comm::Pin pin) {
    return {&comm,
            static_cast<std::uint32_t>(key >> 32) | objects::tagged_context,
            static_cast<std::int32_t>(key & 0x7fffffff),
            accepts ? 0 : 1,
            accepts ? 1 : 0,
            other,
            MPI_SUCCESS,
            std::move(pin)};
}

comm::Route no_route(core::Thread& thread, objects::Communicator& comm, int error,
                     const std::string& why) {
    comm::Route none;
    none.error = objects::fail(thread, &comm, error, why);
    return none;
}

/// Returns the port if it is this process's, and open.
std::optional<Port> own_port(objects::Process& process, std::string_view name) {
    auto port = read_port(name);
    const bool own = port && port->owner.name == process.name_of(process.number());
    return own && process.letters->is_open(port->key) ? port : std::nullopt;
}

comm::Route next_client(core::Thread& thread, objects::Communicator& comm, std::string_view name) {
    const auto port = own_port(*thread.process, name);
    if (!port)
        return no_route(thread, comm, MPI_ERR_PORT,
                        "argument port_name: it is not that of a port which this process has open");
    comm::Letters& letters = *thread.process->letters;
    while (const auto letter = letters.wait(thread, port->key, -1, "for MPI_Comm_connect"))
        if (!letters.is_gone(letter->process)) return answer(thread, comm, *letter);
    return no_route(thread, comm, MPI_ERR_PORT, "the port was closed meanwhile");
}

/// Meets the port's owner, and returns its number. Throws std::runtime_error or std::bad_alloc.
std::int32_t meet_owner(objects::Process& process, const Port& port) {
    transport::Guests& guests = process.need_guests();
    if (port.owner.name.job != process.job_name) guests.introduce(port.owner);
    return process.number_of(port.owner.name);
}

comm::Route to_server(core::Thread& thread, objects::Communicator& comm, std::string_view name) {
    const auto port = read_port(name);
    if (!port)
        return no_route(
            thread, comm, MPI_ERR_PORT,
            "argument port_name: '" + std::string(name) + "' is not the name of a port");
    comm::Letters& letters = *thread.process->letters;
    comm::Pin pin = letters.pin();
    const std::int32_t owner = meet_owner(*thread.process, *port);
    const comm::Key mine = letters.open();
    letters.send(thread, owner, port->key, comm::Letter{0, mine, connects});
    const auto letter = letters.wait(thread, mine, owner, "for MPI_Comm_accept");
    letters.close(thread, mine);
    if (!letter)
        return no_route(
            thread, comm, MPI_ERR_PORT,
            "the process that has opened the port is not reached: " + letters.why_gone(owner));
    if (letter->says == comm::refused)
        return no_route(thread, comm, MPI_ERR_PORT, "the port is not open any more");
    return route_by(comm, mine, false, letter->process, std::move(pin));
}

/// Calls find(), and raises its exceptions as errors.
template <class Find>
comm::Route found_by(core::Thread& thread, objects::Communicator& comm, Find&& find) try {
    return find();
} catch (const std::exception& problem) {
    return no_route(thread, comm, MPI_ERR_OTHER, problem.what());
}

}  // namespace

std::string open_port(objects::Process& process) {
    const transport::GuestCard& own = process.need_guests().own();
    return to_text({own, process.letters->open()});
}

bool close_port(core::Thread& thread, std::string_view name) {
    const auto port = own_port(*thread.process, name);
    if (port) thread.process->letters->close(thread, port->key);
    return port.has_value();
}

comm::Route answer(core::Thread& thread, objects::Communicator& comm, const comm::Letter& letter) {
    thread.process->letters->send(thread, letter.process, letter.from,
                                  comm::Letter{0, 0, accepted});
    return route_by(comm, letter.from, true, letter.process, letter.pin);
}

int accept(core::Thread& thread, objects::Communicator& comm, std::int32_t root,
           std::string_view port, comm::Part& part) {
    const comm::Participants participants(comm);
    for (;;) {
        comm::Route route;
        if (comm.rank == root)
            route = found_by(thread, comm, [&] { return next_client(thread, comm, port); });
        part = {};
        const int error = comm::try_to_introduce(thread, participants, root, route, part);
        if (error != comm::leader_is_gone) return error;
    }
}

int connect(core::Thread& thread, objects::Communicator& comm, std::int32_t root,
            std::string_view port, comm::Part& part) {
    comm::Route route;
    if (comm.rank == root)
        route = found_by(thread, comm, [&] { return to_server(thread, comm, port); });
    const int error = comm::try_to_introduce(thread, comm::Participants(comm), root, route, part);
    if (error != comm::leader_is_gone) return error;
    return objects::fail(thread, &comm, MPI_ERR_PORT,
                         "the process that has opened the port has ended");
}

}  // namespace heddle::dyn

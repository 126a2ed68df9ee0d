// SPDX-License-Identifier: BSD-3-Clause
#include "dyn/spawning.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "dyn/families.hpp"
#include "dyn/meeting.hpp"
#include "mpi.h"
#include "objects/errors.hpp"
#include "objects/process.hpp"

namespace heddle::dyn {
namespace {

using launch::ChildReport;

/// An open key, closed when it is destroyed.
class OpenKey {
public:
    explicit OpenKey(core::Thread& thread)
        : thread_(thread), key_(thread.process->letters->open()) {}
    ~OpenKey() { thread_.process->letters->close(thread_, key_); }
    OpenKey(const OpenKey&) = delete;
    OpenKey& operator=(const OpenKey&) = delete;
    operator comm::Key() const noexcept { return key_; }

private:
    core::Thread& thread_;
    const comm::Key key_;
};

std::string words_of(const ChildReport& report, const std::vector<launch::Command>& commands) {
    const bool known =
        report.command >= 0 && static_cast<std::size_t>(report.command) < commands.size();
    const std::string program =
        known ? "'" + commands[static_cast<std::size_t>(report.command)].program + "' " : "";
    const std::string rank = report.rank >= 0 ? "process " + std::to_string(report.rank) + " " : "";
    switch (report.kind) {
        case ChildReport::Kind::not_started: return program + "cannot be started: " + report.reason;
        case ChildReport::Kind::ended_early:
            return program + rank + "has ended before MPI_Init: " +
                (!report.reason.empty()   ? report.reason
                     : report.signal != 0 ? "by signal " + std::to_string(report.signal)
                                          : "with code " + std::to_string(report.exit_code));
        default:
            return "the processes have ended before MPI_Init" +
                (report.reason.empty() ? "" : ": " + report.reason);
    }
}

/// The work of the root before the two groups meet.
class Spawn {
public:
    Spawn(core::Thread& thread, objects::Communicator& comm,
          const std::vector<launch::Command>& commands)
        : thread_(thread), comm_(comm), commands_(commands) {
        std::int64_t count = 0;
        for (const launch::Command& command : commands) count += command.maxprocs;
        codes_.count = static_cast<std::int32_t>(
            std::min<std::int64_t>(count, std::numeric_limits<std::int32_t>::max()));
    }

    /// Starts the children, and returns a route to their root. Throws the reason if they cannot be
    /// started.
    comm::Route start() {
        objects::Process& process = *thread_.process;
        refuse_too_many();
        const OpenKey key(thread_);
        const std::string port = to_text({process.need_guests().own(), key});
        family_ = std::make_unique<Family>(
            process,
            launch::Children(commands_, port, launch::find_mpiexec(process.settings.mpiexec)), key);
        const auto letter = process.letters->wait(thread_, key, -1, "for MPI_Init of its children");
        if (!letter || letter->says != connects)
            throw std::runtime_error(words_of(family_->failure(), commands_));
        codes_.started = codes_.count = family_->children().size();
        return answer(thread_, comm_, *letter);
    }
    const SpawnCodes& codes() const noexcept { return codes_; }
    /// Keeps the family, once the children have connected.
    void end(const comm::Part& part) {
        family_->has_connected(part.remote);
        families_of(*thread_.process).add(std::move(family_));
    }

private:
    /// Refuses before anything is started: this process would have no room for the children when
    /// they connect.
    void refuse_too_many() const {
        std::int64_t number = 0;
        for (const launch::Command& command : commands_) number += launch::number_to_start(command);
        if (number > static_cast<std::int64_t>(transport::Guests::most))
            throw std::runtime_error(
                std::to_string(number) + " processes are too many: a process is connected with " +
                std::to_string(transport::Guests::most) + " of other jobs at most");
    }

    core::Thread& thread_;
    objects::Communicator& comm_;
    const std::vector<launch::Command>& commands_;
    SpawnCodes codes_;
    std::unique_ptr<Family> family_;
};

comm::Route start(core::Thread& thread, objects::Communicator& comm, Spawn& spawn) try {
    return spawn.start();
} catch (const std::exception& problem) {
    comm::Route none;
    none.error = objects::fail(thread, &comm, MPI_ERR_SPAWN, problem.what());
    return none;
}

/// Tells the root's value to all.
template <class T>
int tell(core::Thread& thread, const comm::Participants& participants, std::int32_t root,
         T& value) {
    std::vector<std::int32_t> members = comm::everybody(participants);
    for (std::int32_t& member : members) member = (member + root) % participants.size();
    const std::int32_t me = (participants.me() - root + participants.size()) % participants.size();
    return comm::broadcast(thread, participants, members, me, comm::spawn_agreement, &value,
                           sizeof value);
}

}  // namespace

int spawn(core::Thread& thread, objects::Communicator& comm, std::int32_t root,
          const SpawnRequest& request, comm::Part& part, SpawnCodes& codes) {
    const comm::Participants participants(comm);
    Spawn at_root(thread, comm, request.commands);
    comm::Route route;
    if (comm.rank == root) {
        route.error = request.error;
        if (request.error == MPI_SUCCESS) route = start(thread, comm, at_root);
        codes = at_root.codes();
    }
    if (const int error = tell(thread, participants, root, codes)) return error;
    const int error =
        comm::try_to_introduce(thread, participants, root, route, part, MPI_ERR_SPAWN);
    if (error == comm::leader_is_gone)
        return objects::fail(thread, &comm, MPI_ERR_SPAWN,
                             "the processes have ended within MPI_Init");
    if (error == MPI_SUCCESS && comm.rank == root) at_root.end(part);
    return error;
}

objects::Communicator& connect_to_parent(core::Thread& thread, std::string_view parent) {
    objects::Process& process = *thread.process;
    comm::Part part;
    if (connect(thread, *process.world, 0, parent, part) != MPI_SUCCESS)
        throw std::runtime_error("the process that has started this one cannot be reached");
    objects::Group& group = objects::make_group(process, std::move(part.local));
    objects::Group& remote = objects::make_group(process, std::move(part.remote));
    objects::Communicator& made =
        objects::make_communicator(process, *process.world, part.context, group, &remote);
    made.name = "MPI_COMM_PARENT";
    return made;
}

}  // namespace heddle::dyn

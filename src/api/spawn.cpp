// SPDX-License-Identifier: BSD-3-Clause
/// New processes (MPI 5.0, 11.8).

#include <string>
#include <vector>

#include "api/collective_arguments.hpp"
#include "api/entry.hpp"
#include "api/making.hpp"
#include "api/object_arguments.hpp"
#include "dyn/spawning.hpp"

namespace heddle::api {
namespace {

struct SpawningComm : Comm {
    using Comm::Comm;
    int error(const Communicator* communicator) const noexcept {
        return object != nullptr && object->remote != nullptr ? MPI_ERR_COMM
                                                              : Comm::error(communicator);
    }
    std::string wrong(const Communicator* communicator) const {
        return object != nullptr ? "an intercommunicator" : Comm::wrong(communicator);
    }
};

/// Codes of processes, or MPI_ERRCODES_IGNORE, which is a null pointer.
struct Codes : Array<int> {
    static constexpr const char* name = "array_of_errcodes";
    using Array::Array;
};

/// The commands of the root. The first wrong argument is refused.
class Commands {
public:
    Commands(Thread& thread, Communicator& comm) noexcept : thread_(thread), comm_(comm) {}

    void add(const char* program, char* const* arguments, int maxprocs, MPI_Info info) {
        launch::Command command;
        command.maxprocs = maxprocs;
        if (!is_memory(program)) return refuse(MPI_ERR_ARG, "command", no_memory(program));
        command.program = program;
        if (maxprocs < 0)
            return refuse(MPI_ERR_ARG, "maxprocs", std::to_string(maxprocs) + " processes");
        if (!is_memory_or_null(arguments)) return refuse(MPI_ERR_ARG, "argv", no_memory(arguments));
        for (; arguments != nullptr && *arguments != nullptr; ++arguments)
            command.arguments.emplace_back(*arguments);
        if (info != MPI_INFO_NULL) {
            const objects::Info* const pairs = objects::find_info(info);
            if (pairs == nullptr) return refuse(MPI_ERR_INFO, "info", "this is no info object");
            const std::lock_guard guard(objects::info_lock());
            command.info = pairs->entries;
        }
        request_.commands.push_back(std::move(command));
    }
    void refuse(int error, const char* argument, const std::string& detail) {
        if (request_.error == MPI_SUCCESS)
            request_.error = api::refuse(thread_, &comm_, error, argument, detail);
    }
    const dyn::SpawnRequest& request() const noexcept { return request_; }

private:
    Thread& thread_;
    Communicator& comm_;
    dyn::SpawnRequest request_;
};

int spawn_all(Thread& thread, Communicator& comm, const Root& root, const Commands& commands,
              MPI_Comm& result, const Codes& codes) {
    result = MPI_COMM_NULL;
    thread.process->forget_guests();
    comm::Part part;
    dyn::SpawnCodes outcome;
    const int error = dyn::spawn(thread, comm, root.rank, commands.request(), part, outcome);
    for (int i = 0; codes.value != nullptr && i < outcome.count; ++i)
        codes.value[i] = error == MPI_SUCCESS && i < outcome.started ? MPI_SUCCESS : MPI_ERR_SPAWN;
    if (error != MPI_SUCCESS) return error;
    result = make(thread, comm, std::move(part));
    return MPI_SUCCESS;
}

int spawn(Thread& thread, Raw<const char*> command, Raw<char**> argv, Raw<int> maxprocs,
          Raw<MPI_Info> info, Root root, SpawningComm comm, Out<MPI_Comm> result, Codes codes) {
    Commands commands(thread, *comm);
    if (comm->rank == root.rank)
        commands.add(command.value, argv.value, maxprocs.value, info.value);
    return spawn_all(thread, *comm, root, commands, *result, codes);
}

int spawn_multiple(Thread& thread, Raw<int> count, Raw<char**> programs, Raw<char***> argvs,
                   Raw<const int*> maxprocs, Raw<const MPI_Info*> infos, Root root,
                   SpawningComm comm, Out<MPI_Comm> result, Codes codes) {
    Commands commands(thread, *comm);
    if (comm->rank == root.rank) {
        const bool are_there = count.value > 0 && is_memory(programs.value) &&
            is_memory(maxprocs.value) && is_memory(infos.value) && is_memory_or_null(argvs.value);
        for (int i = 0; are_there && i < count.value; ++i)
            commands.add(programs.value[i], argvs.value != nullptr ? argvs.value[i] : nullptr,
                         maxprocs.value[i], infos.value[i]);
        if (!are_there)
            commands.refuse(MPI_ERR_ARG, count.value <= 0 ? "count" : "array_of_commands",
                            count.value <= 0 ? std::to_string(count.value) + " commands"
                                             : "one of the arrays is no memory");
    }
    return spawn_all(thread, *comm, root, commands, *result, codes);
}

int get_parent(Thread& thread, Out<MPI_Comm> parent) {
    *parent = thread.process->parent;
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(8, Comm_spawn, spawn)
MPI_ENTRY(9, Comm_spawn_multiple, spawn_multiple)
MPI_ENTRY(1, Comm_get_parent, get_parent)

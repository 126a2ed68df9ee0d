// SPDX-License-Identifier: BSD-3-Clause
/// Sessions (MPI 5.0, 11.3 and 7.3.2). They need no MPI_Init. There may be several at once, or one
/// after the other.

#include <array>

#include "api/closing.hpp"
#include "api/entry.hpp"
#include "api/object_arguments.hpp"
#include "comm/finalize.hpp"
#include "comm/rank.hpp"
#include "objects/callback.hpp"
#include "p2p/buffered.hpp"
#include "tool/knobs.hpp"

namespace heddle::api {
namespace {

using core::Thread;
using objects::Errhandler;

constexpr std::array process_sets = {objects::world_set, objects::self_set};

struct LevelName {
    const char* name;
    int level;
};
constexpr LevelName levels[] = {{"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
                                {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
                                {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
                                {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};

HEDDLE_NAMED(SetName, Text, "pset_name")

// --- beginning and end ---

Process& process_of_session() {
    return objects::current_thread != nullptr ? *objects::current_thread->process
                                              : comm::need_process_of_program();
}

/// Sets knobs that info keys name, for example "heddle_instances". This works before the first
/// session or MPI_Init; later they do not change. Returns what is wrong with one, or an empty text.
std::string ask_for_knobs(MPI_Info handle) {
    const objects::Info* info = handle == MPI_INFO_NULL ? nullptr : objects::find_info(handle);
    if (info == nullptr || objects::process_of_program() != nullptr) return {};
    std::lock_guard guard(objects::info_lock());
    for (const auto& [key, value] : info->entries)
        if (std::string wrong = tool::ask_for(key, value); !wrong.empty()) return wrong;
    return {};
}

/// Returns the level that was asked for. Any number of threads is allowed, so this is the given
/// level. Without a request it is the highest.
int level_wanted(const objects::Info* info) {
    if (info == nullptr) return MPI_THREAD_MULTIPLE;
    std::lock_guard guard(objects::info_lock());
    const auto wanted = info->get("thread_level");
    for (const LevelName& level : levels)
        if (wanted == level.name) return level.level;
    return MPI_THREAD_MULTIPLE;
}

int open(Process& process, Errhandler& handler, const objects::Info* info, MPI_Session& result) {
    objects::Session& session = objects::make_session(process, level_wanted(info), handler);
    process.open();
    objects::attach(process).call = "MPI_Session_init";
    result = session.handle();
    return MPI_SUCCESS;
}

/// Makes a session. Errors go to the handler that it would have, since it does not exist yet.
int init(MPI_Info handle, MPI_Errhandler errhandler, MPI_Session* result) {
    const std::string wrong_knob = ask_for_knobs(handle);
    Process& process = process_of_session();
    Errhandler* handler = process.errhandler(errhandler);
    if (handler == nullptr || !handler->is_for(Errhandler::For::session))
        return objects::fail_outside("MPI_Session_init", MPI_ERR_ERRHANDLER,
                                     "argument errhandler: no error handler for sessions");
    const auto fail = [&](int error_class, const std::string& detail) {
        return objects::call_errhandler(
            process, *handler, MPI_SESSION_NULL, error_class,
            "MPI_Session_init: " + std::string(objects::class_name(error_class)) + ": " + detail);
    };
    if (!is_memory(result)) return fail(MPI_ERR_ARG, "argument session: " + no_memory(result));
    *result = MPI_SESSION_NULL;
    const Hints info(process, handle);
    if (info.error(nullptr) != MPI_SUCCESS)
        return fail(MPI_ERR_INFO, "argument info: " + info.wrong(nullptr));
    if (!wrong_knob.empty()) return fail(MPI_ERR_INFO_VALUE, "argument info: " + wrong_knob);
    return open(process, *handler, info.object, *result);
}

int finalize_session(Thread& thread, InOut<MPI_Session> handle) {
    Process& process = *thread.process;
    const Session session(process, *handle);
    if (session.object == nullptr)
        return refuse(thread, nullptr, MPI_ERR_SESSION, Session::name, session.wrong(nullptr));
    std::shared_ptr<p2p::BsendBuffer> buffer;
    {
        std::lock_guard guard(process.set_up);
        buffer = std::move(session->buffer);
    }
    if (buffer != nullptr && !buffer->flush(thread))
        return objects::fail(thread, *session, MPI_ERR_NO_MEM, "no memory for a request");
    comm::hand_over(thread, session.object);
    session->kind.store(core::Kind::none, relaxed);
    objects::drop(process, *session);
    *handle = MPI_SESSION_NULL;
    close(thread);
    return MPI_SUCCESS;
}

// --- process sets and properties ---

int session_info(Thread&, Session session, Out<MPI_Info> result) {
    objects::Info& info = objects::make_info();
    for (const LevelName& level : levels)
        if (level.level == session->thread_level) info.set("thread_level", level.name);
    *result = objects::handle_of(info);
    return MPI_SUCCESS;
}

int get_num_psets(Thread&, Session, Hints, Out<int> count) {
    *count = static_cast<int>(process_sets.size());
    return MPI_SUCCESS;
}

/// Returns the name of a set. `length` is first the room for the name with its end, then the length
/// it takes. Without room the caller only asks for the length.
int get_nth_pset(Thread& thread, Session session, Hints, Raw<int> n, InOut<int> length,
                 Array<char> name) {
    if (n.value < 0 || n.value >= static_cast<int>(process_sets.size()))
        return refuse(thread, *session, MPI_ERR_ARG, "n",
                      "there is no process set number " + std::to_string(n.value));
    if (*length < 0) return refuse(thread, *session, MPI_ERR_ARG, "pset_len", "negative");
    if (*length > 0 && !is_memory(name.value))
        return refuse(thread, *session, MPI_ERR_ARG, "pset_name", no_memory(name.value));
    const std::string set = process_sets[static_cast<std::size_t>(n.value)];
    if (*length > 0) write_text(set, name.value, static_cast<std::size_t>(*length));
    *length = static_cast<int>(set.size()) + 1;
    return MPI_SUCCESS;
}

/// Returns the processes of a set, or none if there is no such set.
objects::Members members_of(const Process& process, const std::string& name) {
    if (objects::is_name_of_set(name, objects::world_set)) {
        const objects::MembersView world = process.world->group->processes;
        return {world.begin(), world.end()};
    }
    if (objects::is_name_of_set(name, objects::self_set)) return {process.number()};
    return {};
}

int no_such_set(Thread& thread, Session session, SetName name) {
    return refuse(thread, *session, MPI_ERR_ARG, SetName::name,
                  "there is no process set \"" + std::string(name.value) + "\"");
}

int get_pset_info(Thread& thread, Session session, SetName name, Out<MPI_Info> result) {
    const objects::Members members = members_of(*thread.process, name.value);
    if (members.empty()) return no_such_set(thread, session, name);
    objects::Info& info = objects::make_info();
    info.set("mpi_size", std::to_string(members.size()));
    *result = objects::handle_of(info);
    return MPI_SUCCESS;
}

int group_from_pset(Thread& thread, Session session, SetName name, Out<MPI_Group> result) {
    *result = MPI_GROUP_NULL;
    objects::Members members = members_of(*thread.process, name.value);
    if (members.empty()) return no_such_set(thread, session, name);
    *result = objects::handle_of(
        *thread.process, objects::make_group(*thread.process, std::move(members), session.object));
    return MPI_SUCCESS;
}

// --- error handlers ---

// These two may be called before anything else, since MPI_Session_init takes an error handler.

int create_session_errhandler(Anytime& caller, Raw<MPI_Session_errhandler_function*> function,
                              Out<MPI_Errhandler> result) {
    if (function.value == nullptr)
        return caller.fail(MPI_ERR_ARG, "argument session_errhandler_fn: a null pointer");
    *result = reinterpret_cast<MPI_Errhandler>(&objects::make_errhandler(
        process_of_session(), Errhandler::Action::call, Errhandler::For::session,
        reinterpret_cast<Errhandler::Function>(function.value)));
    return MPI_SUCCESS;
}

int errhandler_free(Anytime& caller, InOut<MPI_Errhandler> handle) {
    Process& process = process_of_session();
    const ErrorHandler handler(process, *handle);
    if (handler.object == nullptr)
        return caller.fail(MPI_ERR_ERRHANDLER, "argument errhandler: " + handler.wrong(nullptr));
    // The predefined handlers stay. The program may free a handle of one like any other.
    if (objects::handle_of(process, *handler) == reinterpret_cast<MPI_Errhandler>(handler.object)) {
        handler->take_handle();
        objects::drop(process, *handler);
    }
    *handle = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

extern "C" int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
    const heddle::platform::LibraryCode library_code;
    try {
        return init(info, errhandler, session);
    } catch (const std::exception& problem) {
        if (heddle::objects::left_callback()) {
            heddle::objects::left_callback() = false;
            throw;
        }
        if (errhandler == MPI_ERRORS_RETURN) return MPI_ERR_OTHER;
        return heddle::objects::fail_outside("MPI_Session_init", MPI_ERR_OTHER, problem.what());
    }
}
HEDDLE_ALIAS(Session_init)

MPI_ENTRY(1, Session_finalize, finalize_session)
MPI_ENTRY(2, Session_get_info, session_info)
MPI_ENTRY(3, Session_get_num_psets, get_num_psets)
MPI_ENTRY(5, Session_get_nth_pset, get_nth_pset)
MPI_ENTRY(3, Session_get_pset_info, get_pset_info)
MPI_ENTRY(3, Group_from_session_pset, group_from_pset)
MPI_ENTRY_ANYTIME(2, Session_create_errhandler, create_session_errhandler)
MPI_ENTRY_ANYTIME(1, Errhandler_free, errhandler_free)

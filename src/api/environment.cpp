// SPDX-License-Identifier: BSD-3-Clause
/// Starting and ending, time, names (MPI 5.0, 9 and 11.2 to 11.4).

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <unistd.h>

#include "api/closing.hpp"
#include "api/entry.hpp"
#include "comm/finalize.hpp"
#include "comm/rank.hpp"
#include "dyn/families.hpp"
#include "dyn/names.hpp"
#include "dyn/spawning.hpp"
#include "launch/job.hpp"
#include "launch/variables.hpp"
#include "p2p/buffered.hpp"

namespace heddle::api {
namespace {

using core::Thread;
using objects::Process;

using Life = Process::Life;

/// Returns the life of the world model.
Life life() noexcept {
    const Process* process = objects::current_thread != nullptr ? objects::current_thread->process
                                                                : objects::process_of_program();
    return process == nullptr ? Life::fresh : process->world_life();
}

int nearest_level(int required) noexcept {
    for (const int level : {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED})
        if (required <= level) return level;
    return MPI_THREAD_MULTIPLE;
}

/// Returns the thread level that the program gets. Programs that get MPI_THREAD_SERIALIZED lock
/// around every call; more costs us nothing (MPI 5.0, 11.6.2).
int given_level(const tool::Settings& settings, int level) noexcept {
    const bool may_be_more = settings.exact_thread_level == tool::Switch::off;
    return level == MPI_THREAD_SERIALIZED && may_be_more ? MPI_THREAD_MULTIPLE : level;
}

/// Does the work of MPI_Init and MPI_Init_thread.
int initialize(const char* call, int level) noexcept {
    if (life() == Life::forked)
        return objects::fail_outside(call, MPI_ERR_OTHER, objects::forked_text);
    const platform::LibraryCode library_code;
    if (life() != Life::fresh)
        return objects::fail_outside(
            call, MPI_ERR_OTHER,
            life() == Life::initialized ? "called twice" : "called after MPI_Finalize");
    try {
        Process& process = comm::need_process_of_program();
        process.open();
        core::Thread* thread = objects::current_thread;
        process.main_thread = thread != nullptr ? thread : &objects::attach(process);
        process.main_thread->call = call;
        process.thread_level = given_level(process.settings, level);
        process.tell_thread_level(process.thread_level);
        process.begin_world();
        if (const std::string parent = launch::take_parent(); !parent.empty())
            process.parent = dyn::connect_to_parent(*process.main_thread, parent).handle;
        return MPI_SUCCESS;
    } catch (const std::exception& problem) {
        return objects::fail_outside(call, MPI_ERR_OTHER, problem.what());
    }
}

/// Detaches buffers that are still attached (MPI 5.0, 3.6).
void flush_buffers(Thread& thread) {
    Process& process = *thread.process;
    if (process.buffer != nullptr) (void)process.buffer->flush(thread);
    for (std::uint32_t i = core::first_number;
         Communicator* communicator = process.communicators.at_place(i); ++i)
        if (communicator->is(core::Kind::communicator) && communicator->buffer != nullptr)
            (void)communicator->buffer->flush(thread);
}

int finalize_world(Thread& thread) {
    Process& process = *thread.process;
    if (life() != Life::initialized)
        return objects::fail_outside(
            thread.call, MPI_ERR_OTHER,
            life() == Life::fresh ? "called before MPI_Init" : "called twice");
    // First of all (MPI 5.0, 11.4): functions of the program may still use MPI.
    if (const int failed = objects::delete_attributes(process, objects::holder(*process.self)))
        return objects::fail(thread, process.self, failed,
                             "a function that deletes attributes failed");
    flush_buffers(thread);
    if (process.families != nullptr) process.families->let_all_go();
    if (process.names != nullptr) process.names->clear();
    const int error = comm::say_goodbye(thread);
    if (error != MPI_SUCCESS) return error;
    process.end_world();
    close(thread);
    return MPI_SUCCESS;
}

int abort_job(Thread& thread, Comm, Raw<int> code) {
    objects::end_job(*thread.process, code.value, "");
}

int query_thread(Thread& thread, Out<int> provided) {
    *provided = thread.process->thread_level;
    return MPI_SUCCESS;
}

int is_thread_main(Thread& thread, Out<int> flag) {
    *flag = thread.process->main_thread == &thread;
    return MPI_SUCCESS;
}

int get_processor_name(Thread&, Out<char> name, Out<int> length) {
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    gethostname(host, sizeof host - 1);
    *length = static_cast<int>(std::strlen(host));
    std::memcpy(name.place, host, static_cast<std::size_t>(*length) + 1);
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(2, Abort, abort_job)
MPI_ENTRY(1, Query_thread, query_thread)
MPI_ENTRY(1, Is_thread_main, is_thread_main)
MPI_ENTRY(2, Get_processor_name, get_processor_name)

extern "C" {

int PMPI_Init(int*, char***) { return initialize("MPI_Init", MPI_THREAD_SINGLE); }

int PMPI_Init_thread(int*, char***, int required, int* provided) {
    const int level = nearest_level(required);
    if (!is_memory(provided))
        return heddle::objects::fail_outside("MPI_Init_thread", MPI_ERR_ARG,
                                             "argument provided: " + no_memory(provided));
    *provided = level;
    const int outcome = initialize("MPI_Init_thread", level);
    if (outcome == MPI_SUCCESS) *provided = heddle::objects::process_of_program()->thread_level;
    return outcome;
}

int PMPI_Finalize(void) {
    // A forked child inherits exit handlers (atexit) of its parent, which may call this.
    if (life() == Life::forked) return MPI_SUCCESS;
    return call<&finalize_world>("MPI_Finalize");
}

int PMPI_Initialized(int* flag) {
    if (!is_memory(flag)) return MPI_ERR_ARG;
    *flag = life() != Life::fresh;
    return MPI_SUCCESS;
}

int PMPI_Finalized(int* flag) {
    if (!is_memory(flag)) return MPI_ERR_ARG;
    *flag = life() == Life::finalized || life() == Life::forked;  // MPI is of no use any more
    return MPI_SUCCESS;
}

double PMPI_Wtime(void) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double PMPI_Wtick(void) { return 1e-9; }

}  // extern "C"

HEDDLE_ALIAS(Init)
HEDDLE_ALIAS(Init_thread)
HEDDLE_ALIAS(Finalize)
HEDDLE_ALIAS(Initialized)
HEDDLE_ALIAS(Finalized)
HEDDLE_ALIAS(Wtime)
HEDDLE_ALIAS(Wtick)

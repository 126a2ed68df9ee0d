// SPDX-License-Identifier: BSD-3-Clause
#include "api/entry.hpp"

#include <exception>

#include "objects/callback.hpp"
#include "p2p/engine.hpp"

namespace heddle::api {

namespace {

/// Returns the thread if it is to enter the section that is a call.
core::Thread* thread_to_enter() noexcept {
    core::Thread* thread =
        objects::current_thread == nullptr ? objects::attached_thread() : nullptr;
    return thread != nullptr &&
            thread->process->life.load(acquire) == objects::Process::Life::initialized
        ? thread
        : nullptr;
}

/// Returns the limit of a call. Tests are the calls that call make_progress() (api/completion.hpp)
/// instead of waiting.
sync::locks::Limit limit_of(std::string_view call) noexcept {
    for (const std::string_view test :
         {"MPI_Test", "MPI_Request_get_status", "MPI_Parrived", "MPI_Iprobe", "MPI_Improbe"})
        if (call.starts_with(test)) return sync::locks::Limit::of_tests;
    return sync::locks::Limit::none;
}

/// Throws the exception that has been caught again, if it is the program's.
void pass_on_if_the_programs() {
    if (!objects::left_callback()) return;
    objects::left_callback() = false;
    throw;
}

/// Refuses a call in the child of an MPI process. The child goes on if its program has asked for
/// errors to be returned, unless it wants to end. No handler of the program is called, since its
/// objects are the parent's.
int refuse_in_child(const Process& process, std::string_view call) {
    for (const objects::Communicator* communicator : {process.self, process.world})
        if (communicator->errhandler->action == objects::Errhandler::Action::give_back &&
            call != "MPI_Abort")
            return MPI_ERR_OTHER;
    return objects::fail_outside(call.data(), MPI_ERR_OTHER, objects::forked_text);
}

}  // namespace

core::Thread* enter_first(const char* call) {
    using Life = objects::Process::Life;
    const platform::LibraryCode library;
    Process* process = process_here();
    if (process == nullptr || process->life.load(acquire) != Life::initialized) return nullptr;
    try {
        core::Thread& thread = objects::attach(*process);
        return process->engine->calls_are_sections() ? nullptr : &thread;
    } catch (const std::exception& problem) {
        objects::fail_outside(call, MPI_ERR_NO_MEM, problem.what());
        return nullptr;
    }
}

CallSection::CallSection(std::string_view call) noexcept
    : thread_(thread_to_enter()),
      section_(thread_ == nullptr ? nullptr : thread_->visitor, sync::locks::Section::call, 0,
               limit_of(call)) {
    if (thread_ != nullptr) objects::current_thread = thread_;
}

CallSection::~CallSection() {
    if (thread_ != nullptr) objects::current_thread = nullptr;
}

int refuse_outside(const char* call) {
    Process* process = process_here();
    if (process != nullptr && process->is_copy()) return refuse_in_child(*process, call);
    const bool over = process != nullptr && process->world_life() == Process::Life::finalized;
    return objects::fail_outside(call, MPI_ERR_OTHER,
                                 over ? "called after MPI_Finalize" : "called before MPI_Init");
}

int refuse(core::Thread& thread, const objects::ErrorScope& scope, int error_class,
           const char* argument, const std::string& detail) {
    return objects::fail(thread, scope, error_class,
                         "argument " + std::string(argument) + ": " + detail);
}

int caught(core::Thread& thread, const objects::ErrorScope& scope) {
    pass_on_if_the_programs();
    try {
        throw;
    } catch (const NoBuffer& wrong) {
        return objects::fail(thread, &wrong.communicator, MPI_ERR_BUFFER,
                             "argument buf: " + no_memory(wrong.address));
    } catch (const std::bad_alloc&) {
        return objects::fail(thread, scope, MPI_ERR_NO_MEM, "out of memory");
    } catch (const std::exception& problem) {
        return objects::fail(thread, scope, MPI_ERR_INTERN, problem.what());
    }
}

Anytime::Anytime(const char* name) noexcept : call(name), thread(enter(name)) {
    if (thread == nullptr) thread = thread_to_enter();
}

int Anytime::fail(int error_class, const std::string& detail) {
    return thread != nullptr ? objects::fail(*thread, nullptr, error_class, detail)
                             : objects::fail_outside(call, error_class, detail);
}

int Anytime::caught() {
    pass_on_if_the_programs();
    if (thread != nullptr) return api::caught(*thread);
    return objects::fail_outside(call, MPI_ERR_NO_MEM, "out of memory");
}

}  // namespace heddle::api

// SPDX-License-Identifier: BSD-3-Clause
#include "api/entry.hpp"

#include <exception>

namespace heddle::api {

core::Thread* enter_first(const char* call, int& error) {
    using Life = objects::Process::Life;
    Process* process = objects::current_thread != nullptr ? objects::current_thread->process
                                                          : objects::process_of_program();
    const Life life = process == nullptr ? Life::fresh : process->life.load(acquire);
    if (life != Life::initialized) {
        error = objects::fail_outside(call, MPI_ERR_OTHER,
                                      life == Life::fresh ? "called before MPI_Init"
                                                          : "called after MPI_Finalize");
        return nullptr;
    }
    try {
        return &objects::attach(*process);
    } catch (const std::exception& problem) {
        error = objects::fail_outside(call, MPI_ERR_NO_MEM, problem.what());
        return nullptr;
    }
}

int refuse(core::Thread& thread, objects::Communicator* communicator, int error_class,
           const char* argument, const std::string& detail) {
    return objects::fail(thread, communicator, error_class,
                         "argument " + std::string(argument) + ": " + detail);
}

int caught(core::Thread& thread) {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return objects::fail(thread, nullptr, MPI_ERR_NO_MEM, "out of memory");
    } catch (const std::exception& problem) {
        return objects::fail(thread, nullptr, MPI_ERR_INTERN, problem.what());
    }
}

}  // namespace heddle::api

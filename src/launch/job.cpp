// SPDX-License-Identifier: BSD-3-Clause
#include "launch/job.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include "launch/board.hpp"
#include "launch/pmi.hpp"
#include "platform/memory.hpp"

namespace heddle::launch {
namespace {

int number(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) throw std::runtime_error(std::string(variable) + " is missing");
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < 0 || value > 1'000'000)
        throw std::runtime_error(std::string(variable) + "=" + text + " is not a number of ranks");
    return static_cast<int>(value);
}

/// Launchers that have started several ranks in a way that is not understood here.
void refuse_other_launchers() {
    struct Sign {
        const char* variable;
        const char* launcher;
    };
    constexpr Sign signs[] = {{"PMIX_RANK", "a PMIx launcher (prterun, Open MPI's mpirun)"},
                              {"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"},
                              {"PMI_PORT", "a PMI launcher that wants to be called back"}};
    for (const Sign& sign : signs)
        if (std::getenv(sign.variable) != nullptr)
            throw std::runtime_error(std::string("started by ") + sign.launcher + ", as " + sign.variable +
                                     " says, which is not supported; use Heddle's mpiexec");
}

Job alone() {
    refuse_other_launchers();
    Job job;
    job.node_descriptor = platform::create_shared_memory();
    if (job.node_descriptor < 0)
        throw std::runtime_error(std::string("no shared memory: ") + std::strerror(errno));
    return job;
}

/// A launcher that speaks PMI-1 and knows nothing of shared memory: rank 0 makes it, the others open
/// it through the kernel's list of rank 0's open files.
Job by_pmi() {
    Job job;
    job.pmi = std::make_shared<PmiClient>(number("PMI_FD"));
    job.rank = number("PMI_RANK");
    job.size = number("PMI_SIZE");
    const char* key = "heddle-node";
    if (job.rank == 0) {
        job.node_descriptor = platform::create_shared_memory();
        job.pmi->put(key, "/proc/" + std::to_string(getpid()) + "/fd/" +
                              std::to_string(job.node_descriptor));
    }
    job.pmi->barrier();
    if (job.rank != 0) job.node_descriptor = platform::open_shared_memory(job.pmi->get(key));
    if (job.node_descriptor < 0)
        throw std::runtime_error(std::string("the ranks cannot share memory (they must run on one "
                                             "machine, as one user): ") + std::strerror(errno));
    job.pmi->barrier();  // rank 0 is still there to be opened until now
    return job;
}

}  // namespace

Job join() {
    if (const char* descriptor = std::getenv(node_descriptor_variable)) {
        Job job;
        job.node_descriptor = std::atoi(descriptor);
        job.board_is_read = true;
        job.rank = number("PMI_RANK");
        job.size = number("PMI_SIZE");
        if (std::getenv("PMI_APPNUM") != nullptr) job.appnum = number("PMI_APPNUM");
        return job;
    }
    return std::getenv("PMI_FD") != nullptr ? by_pmi() : alone();
}

void leave(Job& job) noexcept {
    if (job.pmi) job.pmi->finalize();
    job.pmi.reset();
}

void abort(Job& job, int code, const std::string& reason) noexcept {
    std::fflush(stdout);
    if (!job.board_is_read) std::fprintf(stderr, "heddle: %s\n", reason.c_str());
    std::fflush(nullptr);
    if (job.pmi) job.pmi->abort(code);
    _exit((code & 0xff) == 0 ? 1 : code & 0xff);
}

}  // namespace heddle::launch

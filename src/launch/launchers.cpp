// SPDX-License-Identifier: BSD-3-Clause
#include "launch/launchers.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace heddle::launch {
namespace {

void refuse_those_with_another_protocol() {
    struct Sign {
        const char* variable;
        const char* launcher;
    };
    constexpr Sign signs[] = {{"PMIX_RANK", "a PMIx launcher (prterun, Open MPI's mpirun)"},
                              {"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"},
                              {"PMI_PORT", "a PMI launcher that wants to be called back"}};
    for (const Sign& sign : signs)
        if (std::getenv(sign.variable) != nullptr)
            throw std::runtime_error(std::string("started by ") + sign.launcher + ", as " +
                                     sign.variable +
                                     " says, which is not supported; use Heddle's mpiexec");
}

/// The number in a variable; -1 without one.
long number_in(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr || *text == '\0') return -1;
    char* end = nullptr;
    const long number = std::strtol(text, &end, 10);
    return *end == '\0' ? number : -1;
}

/// Tasks of a step of srun speak PMI only where it is told to. The shells of sbatch and salloc have variables
/// of Slurm, too, but belong to no step, or to one with a number that Slurm keeps for itself.
void refuse_srun_without_pmi() {
    constexpr long last_step = 0xffff'fff0;
    const long step = number_in("SLURM_STEP_ID");
    const long tasks = number_in("SLURM_STEP_NUM_TASKS");
    if (step < 0 || step >= last_step || tasks < 2) return;
    if (std::getenv("PMI_RANK") != nullptr)
        return;  // there was a PMI, which the rank has that started this one
    throw std::runtime_error(
        "started by srun as one of " + std::to_string(tasks) +
        " tasks, without PMI, so that each would be alone; use 'srun --mpi=pmi2', or Heddle's "
        "mpiexec (to have " +
        std::to_string(tasks) +
        " jobs of one rank each, take SLURM_STEP_NUM_TASKS out of the environment)");
}

}  // namespace

void refuse_other_launchers() {
    refuse_those_with_another_protocol();
    refuse_srun_without_pmi();
}

}  // namespace heddle::launch

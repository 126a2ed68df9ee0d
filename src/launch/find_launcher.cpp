// SPDX-License-Identifier: BSD-3-Clause
/// The search for a launcher: one that is understood, or one that must be named.

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "launch/all.hpp"
#include "launch/variables.hpp"

namespace heddle::launch {
namespace {

void refuse_those_with_another_protocol() {
    struct Sign {
        const char* variable;
        const char* launcher;
    };
    constexpr Sign signs[] = {{"PMIX_RANK", "a PMIx launcher without PMIX_NAMESPACE"},
                              {"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun without PMIx"},
                              {"PMI_PORT", "a PMI launcher without PMI_ID"}};
    for (const Sign& sign : signs)
        if (std::getenv(sign.variable) != nullptr)
            throw std::runtime_error(std::string("started by ") + sign.launcher + ", as " +
                                     sign.variable +
                                     " says, which is not supported; use Heddle's mpiexec");
}

/// Returns the number in a variable, or -1 without one.
long number_of(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr || *text == '\0') return -1;
    char* end = nullptr;
    const long number = std::strtol(text, &end, 10);
    return *end == '\0' ? number : -1;
}

/// Refuses a task of several in a step of srun without PMI. Such tasks speak PMI only if srun is
/// told so. The shells of sbatch and salloc have variables of Slurm, too. They belong to no step,
/// or to one with a number that Slurm keeps for itself.
void refuse_srun_without_pmi() {
    constexpr long last_step = 0xffff'fff0;
    const long step = number_of("SLURM_STEP_ID");
    const long tasks = number_of("SLURM_STEP_NUM_TASKS");
    if (step < 0 || step >= last_step || tasks < 2) return;
    if (std::getenv("PMI_RANK") != nullptr)
        return;  // there was a PMI: the rank that has started this one has it
    throw std::runtime_error(
        "started by srun as one of " + std::to_string(tasks) +
        " tasks, without PMI, so that each would be alone; use 'srun --mpi=pmi2' or 'srun "
        "--mpi=pmix', or Heddle's "
        "mpiexec (to have " +
        std::to_string(tasks) +
        " jobs of one rank each, take SLURM_STEP_NUM_TASKS out of the environment)");
}

/// Refuses launchers that are there, but use a protocol that is not understood.
void refuse_other_launchers() {
    refuse_those_with_another_protocol();
    refuse_srun_without_pmi();
}

}  // namespace

std::unique_ptr<Launcher> find_launcher() {
    for (const auto find : launchers) {
        auto launcher = find();
        if (launcher == nullptr) continue;
        keep_variables_from_children();
        setenv("PMI_RANK", std::to_string(launcher->rank()).c_str(), 1);
        return launcher;
    }
    refuse_other_launchers();
    return nullptr;
}

}  // namespace heddle::launch

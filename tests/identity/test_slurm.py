# SPDX-License-Identifier: BSD-3-Clause
"""Variables of Slurm without a PMI: which of them make a program one of several."""

import os
import subprocess
import unittest

from harness import MPIEXEC, WATCHDOG
from identity import main, program

ALLOCATION = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4", "SLURM_NPROCS": "4", "SLURM_NNODES": "1"}
BATCH = {**ALLOCATION, "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0"}
STEP = {**ALLOCATION, "SLURM_PROCID": "2", "SLURM_STEP_ID": "0", "SLURM_STEPID": "0", "SLURM_STEP_NUM_TASKS": "4"}


class Slurm(unittest.TestCase):
    def run_in(self, surroundings, *command):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        done = subprocess.run(command or [program("program")], env={**clean, **surroundings}, capture_output=True,
                              timeout=WATCHDOG, check=False, text=True)
        return done.returncode, done.stdout, done.stderr

    def assert_alone(self, surroundings):
        self.assertEqual(self.run_in(surroundings), (0, "rank 0 of 1\n", ""))

    def test_shells_of_salloc_and_sbatch(self):
        self.assert_alone(ALLOCATION)
        self.assert_alone(BATCH)
        interactive = {**ALLOCATION, "SLURM_PROCID": "0", "SLURM_STEP_ID": "4294967290", "SLURM_STEP_NUM_TASKS": "4"}
        self.assert_alone(interactive)

    def test_a_step_of_one_task(self):
        self.assert_alone({**STEP, "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"})

    def test_a_step_without_pmi(self):
        code, out, err = self.run_in(STEP)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("started by srun as one of 4 tasks, without PMI", err)
        self.assertIn("srun --mpi=pmi2", err)

    def test_mpiexec_in_a_step(self):
        code, out, err = self.run_in(STEP, MPIEXEC, "-n", "2", program("program"), "start")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(sorted(out.splitlines()), ["rank 0 of 1"] * 6 + ["rank 0 of 2", "rank 1 of 2"])


if __name__ == "__main__":
    main()

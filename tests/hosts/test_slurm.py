# SPDX-License-Identifier: BSD-3-Clause
"""Slurm on two hosts: its two methods to tell ranks of each other, and processes that its ranks start. Besides jobs of Slurm
that meet, and mpiexec in an allocation."""

import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import unittest

import hosts

SLURM = pathlib.Path(__file__).resolve().parent / "slurm.sh"
MPIEXEC = os.environ["MPIEXEC"]
PROGRAM = os.environ["PROGRAM"]
CONFORMANCE = os.environ["CONFORMANCE"]
SERVICE, SPAWN, PARENT = os.environ["SERVICE"], os.environ["SPAWN"], os.environ["PARENT"]


def under_slurm(script):
    return hosts.run(2, f"{SLURM} 2 sh -c '{script}'")


def plugins():
    listed = under_slurm("srun --mpi=list").out.split()
    return [name for name in ("pmi2", "pmix") if name in listed]


class Slurm(unittest.TestCase):
    def for_each(self, words):
        return [under_slurm(f"srun --mpi={plugin} -K -N 2 --ntasks-per-node=2 {words}") for plugin in PLUGINS]

    def test_the_contract(self):
        for ended in self.for_each(f"{CONFORMANCE} 4 2"):
            self.assertEqual(ended.code, 0, ended)
            self.assertEqual(ended.lines(), [f"rank {rank} conforms" for rank in range(4)])

    def test_ranks_find_each_other(self):
        for ended in self.for_each(f"{PROGRAM} hello"):
            self.assertEqual(ended.code, 0, ended)
            self.assertEqual(ended.lines(), [f"rank {rank} of 4" for rank in range(4)])

    def test_the_end_of_a_job(self):
        # With pmi2, Slurm ends all ranks by a signal as soon as one has asked for the end. It may report that.
        codes = {"abort 7": {"pmix": [7], "pmi2": [7, 137]}, "exit 3": {"pmix": [3], "pmi2": [3]}}
        for words, expected in codes.items():
            for plugin, ended in zip(PLUGINS, self.for_each(f"{PROGRAM} {words}")):
                self.assertIn(ended.code, expected[plugin], ended)
                self.assertNotIn("left behind", ended.err)

    def test_the_death_of_a_rank(self):
        """srun returns the highest code of all tasks: 137 is that of the rank that died, 143 that of ranks that srun ends."""
        codes = {"Killed": 128 + signal.SIGKILL, "Terminated": 128 + signal.SIGTERM}
        for ended in self.for_each(f"{PROGRAM} die"):
            self.assertRegex(ended.err, r"srun: error: node2: tasks? (2-)?3: Killed\n")
            ends = re.findall(r"(?m)^srun: error: node[12]: tasks? [\d,-]+: (?:Exited with exit code )?(\w+)$", ended.err)
            self.assertEqual(ended.code, max(codes[end] if end in codes else int(end) for end in ends), ended)
            self.assertNotIn("left behind", ended.err)

    def test_ranks_start_processes(self):
        for plugin in PLUGINS:
            for tasks in ("-N 1 -n 1", "-N 1 -n 2", "-N 2 -n 2"):
                with self.subTest(plugin=plugin, tasks=tasks):
                    ended = under_slurm(f"srun --mpi={plugin} -K {tasks} {SPAWN}")
                    self.assertEqual((ended.code, ended.out), (0, "spawn: fine\n"), ended)

    def test_processes_end_with_the_step_that_has_started_them(self):
        for plugin in PLUGINS:
            for end in ("kill -TERM $job", "scancel --quiet --state=RUNNING --user=root"):
                with self.subTest(plugin=plugin, end=end), tempfile.TemporaryDirectory(dir=pathlib.Path(SPAWN).parent) as folder:
                    ended = under_slurm(f"""
                        srun --mpi={plugin} -w node1 -n 1 {PARENT} wait >{folder}/said 2>{folder}/errors & job=$!
                        until [ "$(grep -c child {folder}/said)" = 2 ]; do kill -0 $job || exit 3; sleep 0.02; done
                        for process in $(sed "s/child //" {folder}/said); do kill -0 $process || exit 4; done
                        {end}
                        wait $job
                        for process in $(sed "s/child //" {folder}/said); do
                            while kill -0 $process 2>/dev/null; do sleep 0.02; done
                        done
                        echo they have ended""")
                    self.assertEqual((ended.code, ended.out), (0, "they have ended\n"), ended)

    def test_jobs_meet(self):
        for plugin in PLUGINS:
            with self.subTest(plugin=plugin), tempfile.TemporaryDirectory(dir=pathlib.Path(SERVICE).parent) as folder:
                one, two = f"srun --mpi={plugin} -K -N 1 -n 2", f"srun --mpi={plugin} -K -N 2 -n 2"
                ended = under_slurm(f"""
                    export HEDDLE_NAMES={folder}
                    {two} {SERVICE} serve >{folder}/said & server=$!
                    until grep -q serving {folder}/said; do kill -0 $server || exit 3; sleep 0.02; done
                    {one} {SERVICE} ask 3
                    {two} {SERVICE} ask 4
                    {MPIEXEC} -n 1 {SERVICE} ask 5
                    {one} {SERVICE} end && wait $server""")
                self.assertEqual(ended.code, 0, ended)
                self.assertEqual(ended.out.splitlines(),
                                 [f"the square of {number} is {number * number}: correct" for number in (3, 4, 5)], ended)

    def test_mpiexec_in_an_allocation(self):
        ended = under_slurm(f"salloc -Q -N 2 {MPIEXEC} -n 4 -l hostname")
        self.assertEqual((ended.code, ended.lines()), (0, ["[0] node1", "[1] node1", "[2] node2", "[3] node2"]), ended)
        ended = under_slurm(f"salloc -Q -N 2 {MPIEXEC} -n 4 --host node1,node2 --map-by node -l hostname")
        self.assertEqual((ended.code, ended.lines()), (0, ["[0] node1", "[1] node2", "[2] node1", "[3] node2"]), ended)
        ended = under_slurm(f"salloc -Q -N 2 {MPIEXEC} -n 4 {PROGRAM} die")
        self.assertEqual(ended.code, 137, ended)
        self.assertRegex(ended.err, r"mpiexec: rank 3 \(pid \d+, .* on node2\) was ended by signal 9")
        ended = under_slurm(f"salloc -Q -N 2 {MPIEXEC} -n 4 {PROGRAM} exit 3")
        self.assertEqual(ended.code, 3, ended)


if __name__ == "__main__":
    if not all(shutil.which(tool) for tool in ("munged", "slurmctld", "slurmd", "srun")):
        print("Slurm is not installed")
        sys.exit(hosts.SKIPPED)
    hosts.skip_without_hosts()
    PLUGINS = plugins()
    if not PLUGINS:
        sys.exit("Slurm did not start")
    unittest.main(verbosity=2)

# SPDX-License-Identifier: BSD-3-Clause
"""test_launchers.py LAUNCHER: tests what ranks make of this launcher, with 1, 2 and 4 ranks.

A launcher is a command in the list below; all of them have to pass the same tests.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest
import uuid

from harness import MARK, MPIEXEC, WATCHDOG, marked, wait_until

PLACE = os.environ["LAUNCHERS"]
PROGRAM = os.environ["PROGRAM"]
CONFORMANCE = os.environ["CONFORMANCE"]
STARTS = os.environ["STARTS"]
COUNTS = (1, 2, 4)


class Launcher:
    """`command(ranks)` starts so many ranks; `on_nodes(ranks, nodes)` uses so many nodes, all of them this machine."""

    environment = {}
    on_nodes = None

    def program(self):
        """Returns the program that a test needs."""
        return self.command(1)[0]


class Mpiexec(Launcher):
    def command(self, ranks):
        return [MPIEXEC, "-n", ranks, "env", "-u", "HEDDLE_NODE_FD"]


class Hydra(Launcher):
    def command(self, ranks):
        return [f"{PLACE}/mpiexec.hydra", "-n", ranks]

    def on_nodes(self, ranks, nodes):
        return [f"{PLACE}/mpiexec.hydra", "-launcher", "fork", "-hosts",
                ",".join(f"node{i}" for i in range(nodes)), "-n", ranks]


class HydraPort(Launcher):
    def command(self, ranks):
        return [f"{PLACE}/mpiexec.hydra", "-pmi-port", "-n", ranks]


class Prterun(Launcher):
    environment = {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def command(self, ranks):
        return [f"{PLACE}/prterun", "--map-by", ":OVERSUBSCRIBE", "-n", ranks]


LAUNCHERS = {"mpiexec": Mpiexec, "hydra": Hydra, "hydra_port": HydraPort, "prterun": Prterun}
launcher = LAUNCHERS[sys.argv[1]]()


def launcher_of(rank):
    """Returns the parent of a rank, also if the rank has ended and is not reaped."""
    return int(pathlib.Path(f"/proc/{rank}/stat").read_text().rpartition(")")[2].split()[1])


class Job:
    def __init__(self, *command):
        self.mark = uuid.uuid4().hex
        environment = dict(os.environ, **launcher.environment, **{MARK: self.mark})
        self.process = subprocess.Popen([str(word) for word in command], env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self):
        try:
            out, err = self.process.communicate(timeout=WATCHDOG)
        except subprocess.TimeoutExpired:
            self.kill()
            out, err = self.process.communicate()
            raise AssertionError(f"no end of {self.process.args}; output {out!r}, errors {err!r}") from None
        return self.process.returncode, out, err

    def kill(self):
        for pid in marked(self.mark):
            os.kill(pid, signal.SIGKILL)


@unittest.skipUnless(shutil.which(launcher.program()), "the launcher is not there")
class Launchers(unittest.TestCase):
    def start(self, *command):
        job = Job(*command)
        self.addCleanup(job.process.stdout.close)
        self.addCleanup(job.process.stderr.close)
        self.addCleanup(job.kill)
        return job

    def run_job(self, ranks, *program):
        return self.run_command(*launcher.command(ranks), *program)

    def run_command(self, *command):
        job = self.start(*command)
        result = job.end()
        wait_until(lambda: not marked(job.mark), "the last process to end")
        return result

    def test_the_contract(self):
        for ranks in COUNTS:
            code, out, err = self.run_job(ranks, CONFORMANCE, ranks, 1)
            self.assertEqual(code, 0, err)
            self.assertEqual(sorted(out.split("\n")[:-1]), [f"rank {rank} conforms" for rank in range(ranks)])

    def test_ranks_find_each_other(self):
        for how in ("hello", "sessions"):
            for ranks in COUNTS:
                code, out, err = self.run_job(ranks, PROGRAM, how)
                self.assertEqual(code, 0, err)
                self.assertEqual(sorted(out.split("\n")[:-1]), [f"rank {rank} of {ranks}" for rank in range(ranks)])

    def test_what_a_rank_starts_is_a_job_of_its_own(self):
        code, out, err = self.run_job(2, STARTS, "start")
        self.assertEqual(code, 0, err)
        self.assertEqual(sorted(out.splitlines()), ["rank 0 of 1"] * 6 + ["rank 0 of 2", "rank 1 of 2"])

    def test_the_exit_code_of_a_rank(self):
        for ranks in COUNTS:
            self.assertEqual(self.run_job(ranks, PROGRAM, "exit", 3)[0], 3)

    def test_an_abort_ends_all(self):
        for ranks in COUNTS:
            code, _, err = self.run_job(ranks, PROGRAM, "abort", 7)
            self.assertEqual(code, 7, err)
            self.assertIn("MPI_Abort", err)

    def test_an_abort_does_not_wait_for_a_launcher_that_is_stopped(self):
        job = self.start(*launcher.command(1), PROGRAM, "told", 7)
        self.assertEqual(job.process.stdout.readline(), "waiting\n")
        ranks = [pid for pid in marked(job.mark) if os.readlink(f"/proc/{pid}/exe") == PROGRAM]
        self.assertEqual(len(ranks), 1)
        os.kill(launcher_of(ranks[0]), signal.SIGSTOP)
        os.kill(ranks[0], signal.SIGUSR1)
        wait_until(lambda: ranks[0] not in marked(job.mark), "the rank to end")
        os.kill(launcher_of(ranks[0]), signal.SIGCONT)
        code, _, err = job.end()
        # PRRTE sometimes takes the code for the number of a signal. Hydra hears of the abort before the rank's last words.
        self.assertIn(code, (7, 128 + 7) if sys.argv[1] == "prterun" else (7,), err)

    def test_the_death_of_a_rank_ends_all(self):
        for ranks in COUNTS:
            self.assertNotEqual(self.run_job(ranks, PROGRAM, "die")[0], 0)

    def test_the_death_of_the_launcher_ends_all(self):
        for ranks in COUNTS:
            job = self.start(*launcher.command(ranks), PROGRAM, "wait")
            for _ in range(ranks):
                self.assertEqual(job.process.stdout.readline(), "waiting\n")
            job.process.kill()
            job.process.wait()
            wait_until(lambda: not marked(job.mark), "the ranks to end")

    @unittest.skipIf(launcher.on_nodes is None, "this launcher shows one machine as one node")
    def test_the_contract_on_two_nodes(self):
        code, out, err = self.run_command(*launcher.on_nodes(4, 2), CONFORMANCE, 4, 2)
        self.assertEqual(code, 0, err)
        self.assertEqual(out.count("conforms"), 4)

    @unittest.skipIf(launcher.on_nodes is None, "this launcher shows one machine as one node")
    def test_ranks_on_two_nodes_are_connected(self):
        for ranks in (2, 4):
            code, out, err = self.run_command(*launcher.on_nodes(ranks, 2), PROGRAM, "hello")
            self.assertEqual(code, 0, err)
            self.assertEqual(sorted(out.splitlines()), [f"rank {rank} of {ranks}" for rank in range(ranks)])


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], verbosity=2, exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun == len(result.skipped) else 0)

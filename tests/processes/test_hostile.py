# SPDX-License-Identifier: BSD-3-Clause
"""Wrong and awkward requests for new processes and connections: each gets the right error, in words if it ends the program.
Nothing hangs, and nothing is left.

Environment: MPIEXEC, HOSTILE (hostile.c), LAUNCHERS (with libraries of other MPIs).
"""

import os
import pathlib
import random
import sys
import time
import unittest

from harness import become_user, need_users
from jobs import LIMIT, JobsTest, run, start

MPIEXEC, HOSTILE = os.environ["MPIEXEC"], os.environ["HOSTILE"]
LIBRARIES = pathlib.Path(os.environ["LAUNCHERS"]).parent / "lib"

OTHER_MPI = "import ctypes; library = ctypes.CDLL('{}', ctypes.RTLD_GLOBAL); library.MPI_Init(None, None); library.MPI_Finalize()"


class Hostile(JobsTest):
    def run_case(self, *words):
        for launcher in ((), (MPIEXEC, "-n", "1")):
            with self.subTest(launcher=launcher):
                done = run(*launcher, HOSTILE, *words, env=self.environment)
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def assert_fatal(self, expected, *call, **options):
        """Checks that the call ends the program by an error with the expected text."""
        done = run(HOSTILE, "fatal", *map(str, call), env=self.environment, **options)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("no error", done.stdout)
        self.assertRegex(done.stderr, expected)

    def test_numbers_of_processes(self):
        self.run_case("numbers")
        self.assert_fatal("MPI_ERR_SPAWN: no process is to be started", "spawn", HOSTILE, 0)
        self.assert_fatal("MPI_ERR_SPAWN: 10000 processes are too many: a process is connected with 1024 of other jobs at most",
                          "spawn", HOSTILE, 10000)
        self.assert_fatal("MPI_ERR_ARG: argument maxprocs: -1 processes", "spawn", HOSTILE, -1)

    def test_ten_thousand_arguments_with_lines_and_quotes(self):
        self.run_case("words")

    def test_environment_with_odd_names(self):
        self.run_case("environment")

    def test_few_descriptors(self):
        self.run_case("descriptors")

    def test_spawn_in_an_error_handler(self):
        self.run_case("handler")

    def test_spawn_in_finalize(self):
        self.assertEqual(self.run_case("finalize"), "spawned in MPI_Finalize\n")

    def test_programs_without_mpi(self):
        self.run_case("never", "exit 0", "exit 3", "kill -11 $$", "sleep 1000 & exit 0", "exec no_such_program 2>/dev/null")
        self.assert_fatal("MPI_ERR_SPAWN: 'true' process 0 has ended before MPI_Init: .* ended without calling MPI_Init",
                          "spawn", "true", 1)

    def test_programs_of_another_mpi(self):
        found = [path for name in ("libmpi.so.12", "libmpi.so.40", "libmpi_abi.so.1") if (path := LIBRARIES / name).exists()]
        if not found:
            self.skipTest("no other MPI was fetched from PyPI")
        for library in found:
            done = run(HOSTILE, "never", f'exec "{sys.executable}" -c "{OTHER_MPI.format(library)}" >/dev/null 2>&1',
                       env=self.environment)
            self.assertEqual(done.returncode, 0, f"{library}: {done.stderr}")

    def test_ports_that_are_none(self):
        self.run_case("ports")
        for port in ("", "nonsense", "heddle:2:00:1:0", "x" * 5000):
            self.assert_fatal("MPI_Comm_connect on MPI_COMM_SELF: MPI_ERR_PORT: argument port_name: '.*' is not the name of a port",
                              "connect", port)
            self.assert_fatal("MPI_ERR_PORT: argument port_name: it is not that of a port which this process has open",
                              "accept", port)
            self.assert_fatal("MPI_Close_port.*: MPI_ERR_PORT: argument port_name", "close", port)

    def test_processes_that_end_without_disconnecting(self):
        self.run_case("leaving")
        self.assertEqual(self.run_case("abandoning"), "disconnected\n")

    def test_threads_accept_at_one_port(self):
        self.run_case("one_port")

    def test_few_processes(self):
        need_users(self, MPIEXEC, HOSTILE)

        def limit(most):
            return become_user(900_000 + os.getpid() * 64 % 1_000_000 + most, most)

        ends = {}
        for most in range(1, 17):
            done = run(HOSTILE, "fatal", "spawn", HOSTILE, "2", env=self.environment, preexec_fn=limit(most))
            ends[most] = done.returncode
            if done.returncode != 0:
                self.assertRegex(done.stderr, "[Rr]esource temporarily unavailable", f"{most} processes")
                self.assertIn("heddle: ", done.stderr)
        self.assertNotEqual(ends[1], 0)
        self.assertEqual(ends[16], 0)

    def test_parents_that_are_killed_while_children_start(self):
        for launcher in ((), (MPIEXEC, "-n", "1")):
            for _ in range(10):
                parent = start(*launcher, HOSTILE, "many", env=self.environment)
                self.assertEqual(parent.stdout.readline(), "spawning\n")
                time.sleep(random.uniform(0.0, 0.02))  # any moment will do
                parent.kill()
                parent.communicate(timeout=LIMIT)


if __name__ == "__main__":
    unittest.main(verbosity=2)

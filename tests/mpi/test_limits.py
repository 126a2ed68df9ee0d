# SPDX-License-Identifier: BSD-3-Clause
"""Limits of address space, private memory and files (ulimit -v, -d, -f): small programs run under them. MPI names a limit
that is too small when it is initialized."""

import os
import resource
import subprocess
import unittest

MPIEXEC = os.environ["MPIEXEC"]
PROGRAM = os.environ["PROGRAM"]
WATCHDOG = 120
KILO, MEGA = 1 << 10, 1 << 20


class Limits(unittest.TestCase):
    def run_with(self, limit, value, ranks, *arguments):
        """Runs mpiexec, and all that it starts, under the limit; returns exit code, output, errors."""
        done = subprocess.run([MPIEXEC, "-n", str(ranks), PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=WATCHDOG, check=False,
                              preexec_fn=lambda: resource.setrlimit(limit, (value, value)))
        return done.returncode, done.stdout, done.stderr

    def assert_runs(self, limit, value):
        for ranks in (1, 2, 4):
            with self.subTest(ranks=ranks):
                code, out, err = self.run_with(limit, value, ranks)
                self.assertEqual((code, out, err), (0, "initialized\n" * ranks, ""))

    def assert_named(self, limit, value, option, by="MPI_Init"):
        code, out, err = self.run_with(limit, value, 2)
        self.assertNotEqual(code, 0)
        self.assertEqual(out, "")
        self.assertIn(by, err)
        self.assertIn("a job of 2 ranks does not fit: this needs ", err)
        self.assertIn(f"of which ulimit {option} allows ", err)

    def test_runs_with_a_gigabyte_of_address_space(self):
        self.assert_runs(resource.RLIMIT_AS, 1048576 * KILO)

    def test_runs_with_little_address_space(self):
        self.assert_runs(resource.RLIMIT_AS, 200 * MEGA)

    def test_runs_with_little_private_memory(self):
        self.assert_runs(resource.RLIMIT_DATA, 60000 * KILO)

    def test_runs_with_small_files(self):
        self.assert_runs(resource.RLIMIT_FSIZE, 100000 * KILO)

    def test_runs_with_files_that_hold_no_stage(self):
        self.assert_runs(resource.RLIMIT_FSIZE, 42 * MEGA)

    def test_a_window_that_does_not_fit_into_small_files_is_named(self):
        code, _, err = self.run_with(resource.RLIMIT_FSIZE, 100 * MEGA, 2, str(200 * MEGA))
        self.assertNotEqual(code, 0)
        self.assertIn("MPI_ERR_NO_MEM: no shared memory for a window of ", err)
        self.assertIn("of which ulimit -f allows 100 MB", err)

    def test_too_little_address_space(self):
        self.assert_named(resource.RLIMIT_AS, 60 * MEGA, "-v")

    def test_too_little_private_memory(self):
        self.assert_named(resource.RLIMIT_DATA, 8 * MEGA, "-d")

    def test_too_small_files(self):
        self.assert_named(resource.RLIMIT_FSIZE, 4 * MEGA, "-f", by="mpiexec")


unittest.main(verbosity=2)

# SPDX-License-Identifier: BSD-3-Clause
"""Jobs in which a rank holds a window's lock for ever: MPIEXEC runs PROGRAM."""

import os
import subprocess
import tempfile
import unittest


def run(*options, how, **environment):
    return subprocess.run([os.environ["MPIEXEC"], *options, "-n", "3", os.environ["PROGRAM"], *how.split()],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100,
                          env={**os.environ, **environment})


class Holder(unittest.TestCase):
    def test_one_that_is_killed_ends_the_job_and_is_named(self):
        for how in ("killed", "killed of_all"):
            job = run(how=how)
            self.assertNotEqual(job.returncode, 0)
            self.assertRegex(job.stdout, r"rank 0.*SIGKILL")
            self.assertNotIn("not true", job.stdout)

    def test_one_that_is_killed_while_others_put_is_named_and_nobody_else(self):
        with tempfile.TemporaryDirectory() as folder:
            blamed = os.path.join(folder, "blamed")
            job = run(how="gone", BLAMED=blamed)
            self.assertNotEqual(job.returncode, 0)
            self.assertRegex(job.stdout, r"rank 0.*SIGKILL")
            self.assertFalse(os.path.exists(blamed), job.stdout)

    def test_one_that_never_lets_go_is_named_in_the_report(self):
        job = run("--timeout", "5", how="hangs")
        self.assertNotEqual(job.returncode, 0)
        self.assertIn("MPI_Win_lock(target 0, cells, held by rank 0)", job.stdout)

    def test_one_that_has_all_targets_and_never_lets_go_is_told_apart(self):
        job = run("--timeout", "5", how="hangs of_all")
        self.assertNotEqual(job.returncode, 0)
        self.assertIn("MPI_Win_lock(target 0, cells, held by who has locked all targets)", job.stdout)

    def test_who_is_waited_for_is_named_with_the_window(self):
        for how, report in (("asked", "MPI_Put(target 0, cells, for its answer)"),
                            ("start", "MPI_Win_start(target 0, cells, for its MPI_Win_post)"),
                            ("wait", "MPI_Win_wait(origin 0, cells, for its MPI_Win_complete)")):
            with self.subTest(how=how):
                job = run("--timeout", "5", how=how, HEDDLE_SINGLE_COPY="never")  # so that a rank that puts asks
                self.assertNotEqual(job.returncode, 0)
                self.assertIn(report, job.stdout)


if __name__ == "__main__":
    unittest.main()

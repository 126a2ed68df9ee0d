# SPDX-License-Identifier: BSD-3-Clause
"""HEDDLE_NODE_FD: the processes that may take a place by it. If it names something else, that must stay as it is."""

import os
import subprocess
import tempfile
import unittest

from harness import WATCHDOG, LaunchTest
from identity import main, program

PLACE = {"PMI_RANK": "0", "PMI_SIZE": "2"}
TOKEN = "0123456789abcdef" * 2


class Stale(unittest.TestCase):
    """HEDDLE_NODE_FD names something else."""

    def run_alone(self, value, **options):
        environment = dict(os.environ, **PLACE, HEDDLE_NODE_FD=value)
        done = subprocess.run([program("program")], env=environment, capture_output=True, timeout=WATCHDOG,
                              check=False, text=True, **options)
        return done.returncode, done.stdout, done.stderr

    def assert_refused(self, value, text, **options):
        code, out, err = self.run_alone(value, **options)
        self.assertEqual((code, out), (1, ""), err)
        self.assertIn("MPI_Init", err)
        self.assertIn(text, err)

    def test_a_file_stays_as_it_is(self):
        with tempfile.TemporaryFile() as file:
            content = os.urandom(4200)
            file.write(content)
            file.flush()
            number = file.fileno()
            for value in (f"{number}", f"{number}:", f"{number}:{TOKEN}"):
                self.assert_refused(value, "HEDDLE_NODE_FD", pass_fds=[number])
            file.seek(0)
            self.assertEqual(file.read(), content)

    def test_memory_that_is_no_jobs_stays_as_it_is(self):
        number = os.memfd_create("other", os.MFD_ALLOW_SEALING)
        os.ftruncate(number, 4096)
        self.assert_refused(f"{number}:{TOKEN}", "no memory of 2 ranks", pass_fds=[number])
        self.assertEqual(os.fstat(number).st_size, 4096)
        self.assertEqual(os.pread(number, 8192, 0), bytes(4096))
        os.close(number)

    def test_it_is_closed(self):
        self.assert_refused(f"333:{TOKEN}", "not open")

    def test_garbage(self):
        for value in ("", "x", ":", f"x:{TOKEN}", f"7x:{TOKEN}", "7:" + "g" * 32):
            self.assert_refused(value, "HEDDLE_NODE_FD")


    def test_pmi_does_not_write_to_a_file(self):
        with tempfile.TemporaryFile() as file:
            file.write(b"somebody's")
            file.flush()
            environment = dict(os.environ, **PLACE, PMI_FD=str(file.fileno()))
            done = subprocess.run([program("program")], env=environment, capture_output=True, timeout=WATCHDOG,
                                  check=False, text=True, pass_fds=[file.fileno()])
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("no connection to a launcher", done.stderr)
            file.seek(0)
            self.assertEqual(file.read(), b"somebody's")


class Claims(LaunchTest):
    def test_another_job(self):
        """The token tells jobs apart."""
        script = (f'HEDDLE_NODE_FD=${{HEDDLE_NODE_FD%%:*}}:{TOKEN} {program("program")} 2>&1 | grep -q "another job" '
                  f'&& exec {program("program")}')
        code, out, err = self.run_job("-n", 2, "sh", "-c", script)
        self.assertEqual((code, sorted(out.splitlines())), (0, ["rank 0 of 2", "rank 1 of 2"]), err)

    def test_what_a_rank_starts_is_a_job_of_its_own(self):
        code, out, err = self.run_job("-n", 2, program("program"), "start")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(sorted(out.splitlines()), ["rank 0 of 1"] * 6 + ["rank 0 of 2", "rank 1 of 2"])

    def test_the_second_who_comes_for_a_place(self):
        """Two programs share an environment: one of them is the rank, the other is alone and says so."""
        twice = f'{program("program")} & {program("program")} & wait %1 && wait %2'
        code, out, err = self.run_job("-n", 2, "sh", "-c", twice)
        self.assertEqual(code, 0, err)
        self.assertEqual(sorted(out.splitlines()), ["rank 0 of 1"] * 2 + ["rank 0 of 2", "rank 1 of 2"])
        lines = sorted(err.splitlines())
        self.assertEqual(len(lines), 2, err)
        for rank, line in enumerate(lines):
            self.assertRegex(line, rf"^heddle: this program is a job of its own: rank {rank} of 2 is process \d+ already$")

    def test_one_after_the_other(self):
        code, out, err = self.run_job("-n", 2, "sh", "-c", f'{program("program")} && {program("program")}')
        self.assertEqual(code, 0, err)
        self.assertEqual(sorted(out.splitlines()), ["rank 0 of 1"] * 2 + ["rank 0 of 2", "rank 1 of 2"])
        self.assertEqual(err.count("a job of its own"), 2, err)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""`heddle logp` as a user meets it, in its shortest run: its output, a launcher of the user's choice, wrong arguments.

    logp_test.py PREFIX WORK
"""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

QUICK = ("--turns", "1", "--seconds", "0.001", "--repetitions", "1", "--milliseconds", "0.2")
LENGTHS = ["10", "100", "1024", "10240", "65536", "131072", "262144", "524288", "1048576", "8388608"]
TABLES = ["half a round trip", "MPI_Send, receiver waits", "MPI_Isend", "MPI_Wait after 0.2 ms of computing",
          "MPI_Recv, has come", "MPI_Recv, has not come"]


def logp(*words):
    return subprocess.run([PREFIX / "bin/heddle", "logp", *words], cwd=WORK, capture_output=True, text=True, check=False)


class Logp(unittest.TestCase):
    def assert_complete(self, done, place):
        self.assertEqual(done.returncode, 0, done.stderr)
        title, *parts = done.stdout.strip().split("\n\n")
        self.assertIn(place, title)
        for name in ("o_s", "o_sb", "o_rb", "w"):
            self.assertIn(f" {name} [us]", parts[0].splitlines()[0])
        self.assertIn(" G [ns a byte]", parts[0].splitlines()[0])
        self.assertRegex(parts[0].splitlines()[-1], r"^L \S+ us, o_r \S+ us, g \S+ us, w_s \S+ us; "
                                                    r"MPI_Send copies messages up to \d+ bytes$")
        self.assertEqual([part.splitlines()[0] for part in parts[1:-1]], TABLES)
        for part in parts[1:-1]:
            rows = [line.split(maxsplit=5) for line in part.splitlines()[2:]]
            self.assertEqual([row[0] for row in rows], LENGTHS)
            for row in rows:
                self.assertRegex(row[3], r"^[+-]\d+$")
                (self.assertGreaterEqual if len(row) == 6 else self.assertLessEqual)(abs(int(row[3])), 15, row)
        self.assert_counted(done.stdout, parts[-1])

    def assert_counted(self, output, summary):
        counts = re.search(r"(\d+) of (\d+) predictions are within 15 %, (\d+) explained, (\d+) unexplained", summary)
        good, total, explained, unexplained = map(int, counts.groups())
        self.assertEqual(total, len(TABLES) * len(LENGTHS))
        self.assertEqual(good + explained + unexplained, total)
        self.assertEqual(unexplained, len(re.findall(r"(?m)% +unexplained *$", output)))
        self.assertEqual(explained, len(re.findall(r"(?m)% +(below the clock|scatter|regime) *$", output)))

    def test_parameters_and_predictions(self):
        self.assert_complete(logp(*QUICK), "heddle, one node")

    def test_a_launcher_of_ones_own(self):
        mpiexec = PREFIX / "bin/mpiexec"
        self.assert_complete(logp(*QUICK, "--", str(mpiexec), "--bind-to", "none"), f"by {mpiexec} --bind-to none")

    def test_wrong_arguments(self):
        for words, why in ((("--peer", "lam=/usr"), "unknown peer lam"), (("--hosts", "3"), "invalid choice: 3"),
                           (("--hosts", "2", "--", "mpiexec", "--host", "a,b"), "both say where ranks run"),
                           ((*QUICK, "--", "false"), "heddle logp: pingpong --sizes ")):
            done = logp(*words)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(why, done.stderr)


if __name__ == "__main__":
    PREFIX, WORK = (Path(word).resolve() for word in sys.argv[1:3])
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)

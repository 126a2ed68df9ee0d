# SPDX-License-Identifier: BSD-3-Clause
"""`heddle logp` as a user meets it, as quick as can be: what it prints, a launcher of one's own, wrong arguments.

    logp_test.py PREFIX WORK
"""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

QUICK = ("--seconds", "0.001", "--repetitions", "1", "--milliseconds", "0.2")
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
        for name in ("o_s", "o_r", "L", "G", "o_sb", "o_rb"):
            self.assertRegex(parts[0], rf"(?m)^{name} \[us\] +\S+|^{name} \[ns a byte\] +\S+", name)
        self.assertRegex(parts[0], r"g \S+ us; MPI_Send copies messages up to \d+ bytes")
        self.assertEqual([part.splitlines()[0] for part in parts[1:-1]], TABLES)
        for part in parts[1:-1]:
            rows = [line.split() for line in part.splitlines()[2:]]
            self.assertEqual([row[0] for row in rows], LENGTHS)
            for row in rows:
                self.assertRegex(row[3], r"^[+-]\d+$")
        good, total = map(int, re.search(r"(\d+) of (\d+) predictions", parts[-1]).groups())
        self.assertEqual(total, len(TABLES) * len(LENGTHS))
        self.assertEqual(good, total - done.stdout.count("% !"))

    def test_parameters_and_predictions(self):
        self.assert_complete(logp(*QUICK), "heddle, one node")

    def test_a_launcher_of_ones_own(self):
        mpiexec = PREFIX / "bin/mpiexec"
        self.assert_complete(logp(*QUICK, "--", str(mpiexec), "--bind-to", "none"), f"by {mpiexec} --bind-to none")

    def test_wrong_arguments(self):
        for words, why in ((("--peer", "lam=/usr"), "unknown peer lam"), (("--hosts", "3"), "invalid choice: 3"),
                           ((*QUICK, "--", "false"), "heddle logp: overlap --computing sender ")):
            done = logp(*words)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(why, done.stderr)


if __name__ == "__main__":
    PREFIX, WORK = (Path(word).resolve() for word in sys.argv[1:3])
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)

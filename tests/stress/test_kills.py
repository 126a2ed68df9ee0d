# SPDX-License-Identifier: BSD-3-Clause
"""A rank is killed at a random moment while all ranks work on windows, or on a file. MPIEXEC runs PROGRAM again and again, for
HEDDLE_STRESS_SECONDS (default 30). Each job ends, names the killed rank and the signal, and leaves nothing."""

import os
import random
import subprocess
import tempfile
import time
import unittest
import uuid

from harness import MARK, MPIEXEC, marked, our_files

WATCHDOG = 100
RANKS = 4


class Kills(unittest.TestCase):
    def kill_once(self, seed, killed, after, folder):
        mark = uuid.uuid4().hex
        job = subprocess.run([MPIEXEC, "-n", str(RANKS), os.environ["PROGRAM"], "--seed", str(seed),
                              "--killed", str(killed), str(after)],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=WATCHDOG,
                             env={**os.environ, MARK: mark, "HEDDLE_STRESS_SECONDS": "3600", "TMPDIR": folder})
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(job.stdout, rf"rank {killed}\b.*SIGKILL")
        self.assertNotIn("not true", job.stdout)
        end = time.monotonic() + WATCHDOG
        while marked(mark) and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(marked(mark), [])
        # The program's own file may be left there, if the killed rank is the one that removes its name.
        self.assertEqual([name for name in os.listdir(folder) if "heddle" in name.lower()], [])

    def test_a_rank_that_is_killed_at_any_moment_ends_the_job(self):
        seconds = float(os.environ.get("HEDDLE_STRESS_SECONDS") or 30)
        first = int(os.environ.get("HEDDLE_STRESS_SEED") or random.SystemRandom().randrange(1, 100000))
        files = our_files()
        end = time.monotonic() + seconds
        seed = first
        while time.monotonic() < end:
            draw = random.Random(seed)
            # The moment is early, while ranks make windows and open files, or later.
            after = int(10 ** draw.uniform(0, 5.5))
            with self.subTest(seed=seed, after=after), tempfile.TemporaryDirectory() as folder:
                self.kill_once(seed, draw.randrange(RANKS), after, folder)
            seed += 1
        self.assertGreater(seed - first, 0)
        self.assertEqual(our_files() - files, set())


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: BSD-3-Clause
"""bench/compare_hosts.py on two hosts, as quick as can be: every figure is read, and the page is written."""

import os
import pathlib
import subprocess
import sys
import unittest

import hosts

SCRIPT = pathlib.Path(os.environ["BENCH"]) / "compare_hosts.py"
BUILD = pathlib.Path(os.environ["BUILD"])
PAGE = BUILD / "tests/hosts.md"


class Bench(unittest.TestCase):
    def test_every_figure_is_read(self):
        environment = {**os.environ, "PATH": f"{hosts.PLACE}:{os.environ['PATH']}"}
        done = subprocess.run([sys.executable, "-B", SCRIPT, "--build", BUILD, "--programs", BUILD / "tests/host-programs",
                               "--rounds", "1", "--seconds", "0.001", "--no-wait", "--only", "rates,regimes,start",
                               "--page", PAGE], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = PAGE.read_text()
        self.assertIn("- heddle: ", page)
        for label in ("1 pair, processes [M/s]", "4 pairs, threads [M/s]", "throughput regime, 4 threads [M/s]",
                      "latency regime, 4 clients: round trip [us]", "4 empty ranks [ms]", "4 times /bin/true [ms]"):
            self.assertRegex(page, rf"\| {label.replace('[', '.').replace(']', '.')} \| ~?[\d.]+ \|", done.stderr)


if __name__ == "__main__":
    if not os.path.exists(f"{hosts.PLACE}/mpiexec.hydra"):
        sys.exit(hosts.SKIPPED)
    hosts.skip_without_hosts()
    unittest.main(verbosity=2)

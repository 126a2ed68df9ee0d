# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of jobs on two hosts, in its shortest run: bench/compare_hosts.py and its page, figures of P5."""

import csv
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
    def run_for_success(self, *words):
        environment = {**os.environ, "PATH": f"{hosts.PLACE}:{os.environ['PATH']}"}
        done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_every_figure_is_read(self):
        done = self.run_for_success(sys.executable, "-B", SCRIPT, "--build", BUILD, "--programs", BUILD / "tests/host-programs",
                                    "--rounds", "1", "--seconds", "0.001", "--no-wait", "--only", "rates,regimes,start",
                                    "--page", PAGE)
        page = PAGE.read_text()
        self.assertIn("- heddle: ", page)
        for label in ("1 pair, processes [M/s]", "4 pairs, threads [M/s]", "throughput regime, 4 threads [M/s]",
                      "latency regime, 4 clients: round trip [us]", "4 empty ranks [ms]", "4 times /bin/true [ms]"):
            self.assertRegex(page, rf"\| {label.replace('[', '.').replace(']', '.')} \| ~?[\d.]+ \|", done.stderr)

    def test_a_figure_on_hosts_and_on_one(self):
        out = BUILD / "tests/p5"
        for figure, series, metrics in (("p5-t1", 5, {"wait_us", "isend_us", "slowdown", "receiver_wait_us"}),
                                        ("p5-6", 5, {"time_us"}), ("p5-7", 4, {"time_us"})):
            self.run_for_success(BUILD / "bin/heddle", "bench", "--quick", "--no-wait", "--fresh", "--out", out, figure,
                                 "--x", "65536", "--timeout", "60")
            with (out / f"{figure}.csv").open(newline="") as file:
                rows = list(csv.DictReader(file))
            for metric in metrics:
                found = [row for row in rows if row["metric"] == metric]
                self.assertEqual(len({row["series"] for row in found}), series, (figure, metric, rows))

    def test_the_model_of_single_calls(self):
        done = self.run_for_success(BUILD / "bin/heddle", "logp", "--hosts", "2", "--seconds", "0.001", "--repetitions", "1", "--milliseconds", "0.2",
                                    "--out", BUILD / "tests/p5")
        self.assertIn("heddle, TCP between two hosts", done.stdout)
        self.assertRegex(done.stdout, r"\d+ of 60 predictions are within 15 %")


if __name__ == "__main__":
    hosts.main()

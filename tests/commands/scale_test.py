# SPDX-License-Identifier: BSD-3-Clause
"""`heddle scale` as a user meets it: tables, objects for programs, files of parameters, wrong arguments.

    scale_test.py PREFIX WORK [RANKS...]

With RANKS: runs jobs of so many ranks from start to end, each within its limits.
"""

import json
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

EACH = 32
FLAT = ("--nodes", "8", "--ranks-per-node", "1", "--operations", "barrier", "--json")


def scale(*words):
    return subprocess.run([PREFIX / "bin/heddle", "scale", *words], capture_output=True, text=True, check=False)


class Scale(unittest.TestCase):
    def objects(self, *words):
        done = scale(*words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_table_marks_the_choice(self):
        done = scale("--nodes", "8", "--ranks-per-node", "4", "--bytes", "8,1KiB")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("32 ranks on 8 nodes, 4 on each. Parameters: ", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^Allreduce, 1024 bytes\n")
        self.assertRegex(done.stdout, r"(?m)^  levels +[\d.]+ .*chosen")
        self.assertRegex(done.stdout, r"In \d+ of 21 calls another algorithm than the chosen one is predicted")

    def test_each_call_has_one_choice_and_one_best(self):
        rows = self.objects("--nodes", "4", "--ranks-per-node", "3", "--bytes", "8,65536")["rows"]
        calls = {(row["operation"], row["bytes"]) for row in rows}
        self.assertEqual(len(calls), 21)
        for call in calls:
            of_call = [row for row in rows if (row["operation"], row["bytes"]) == call]
            self.assertEqual(sum(row["chosen"] for row in of_call), 1, of_call)
            self.assertEqual(sum(row["best"] for row in of_call), 1, of_call)
            best = min(of_call, key=lambda row: row["predicted_us"])
            self.assertTrue(best["best"], of_call)

    def test_choice_is_that_of_the_nodes_and_of_knobs(self):
        def chosen(*words, **knobs):
            done = subprocess.run([PREFIX / "bin/heddle", "scale", "--operations", "allreduce", "--bytes", "8", "--json", *words],
                                  capture_output=True, text=True, check=True, env=knobs)
            return [row["algorithm"] for row in json.loads(done.stdout)["rows"] if row["chosen"]]

        self.assertEqual(chosen("--nodes", "4", "--ranks-per-node", "4"), ["levels"])
        self.assertEqual(chosen("--nodes", "1", "--ranks-per-node", "4"), ["shared"])
        self.assertEqual(chosen("--nodes", "16", "--ranks-per-node", "1"), ["doubling"])
        self.assertEqual(chosen("--nodes", "16", "--ranks-per-node", "1", HEDDLE_COLL_ALLREDUCE="direct"), ["direct"])

    def test_parameters_of_a_file(self):
        file = WORK / "between"
        file.write_text("# a test\nway_us 0:100\no_s_us 0:0\no_r_us 0:0\nbyte_us 0\n")
        rows = self.objects(*FLAT[:-1], "--between", str(file))["rows"]
        times = {row["algorithm"]: row["predicted_us"] for row in rows}
        self.assertAlmostEqual(times["dissemination"], 300, delta=1)
        self.assertAlmostEqual(times["direct"], 100, delta=1)
        file.write_text("way_us\n")
        self.assert_refused(f"{file}, line 1: no points", *FLAT, "--between", str(file))
        self.assert_refused("nowhere cannot be read", *FLAT, "--within", "nowhere")

    def test_algorithms_of_too_many_steps_are_left_out(self):
        rows = self.objects("--nodes", "64", "--ranks-per-node", "1", "--operations", "alltoall", "--bytes", "8",
                            "--most-steps", "5000")["rows"]
        self.assertEqual([row["simulated"] for row in rows], [False] * len(rows))

    def assert_refused(self, why, *words):
        done = scale(*words)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(why, done.stderr)

    def test_wrong_arguments(self):
        self.assert_refused("there is no operation sum", "--operations", "sum")
        self.assert_refused("--nodes", "--nodes", "0")

    def assert_good_job(self, ranks):
        job = self.objects("--job", "--nodes", str(ranks // EACH), "--ranks-per-node", str(EACH))
        parts = {part["part"]: part for part in job["parts"]}
        self.assertEqual(list(parts), ["split", "barrier", "allreduce", "neighbours", "flood", "end"])
        self.assertTrue(all(part["fine"] for part in job["parts"]), job)
        rounds = (ranks - 1).bit_length()
        self.assertEqual(parts["split"]["most_rounds"], rounds)
        self.assertEqual(parts["end"]["most_messages"], 2 * rounds)
        for name in ("barrier", "allreduce"):
            self.assertLessEqual(parts[name]["most_messages"], 2 * rounds)
        self.assertEqual(parts["flood"]["most_messages"], 4 * (ranks - 1))
        self.assertLessEqual(job["communicator_bytes"], 4096)

    def test_a_job(self):
        self.assert_good_job(256)


class Long(Scale):
    def test_a_job(self):
        for ranks in RANKS:
            self.assert_good_job(ranks)


if __name__ == "__main__":
    PREFIX, WORK = (Path(word).resolve() for word in sys.argv[1:3])
    RANKS = [int(word) for word in sys.argv[3:]]
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    only = [sys.argv[0], "Long.test_a_job"] if RANKS else [sys.argv[0], "Scale"]
    unittest.main(argv=only, verbosity=2)

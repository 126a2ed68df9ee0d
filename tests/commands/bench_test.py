# SPDX-License-Identifier: BSD-3-Clause
"""`heddle bench` as a user meets it: a quick figure, its files, an interruption, a run that resumes after it,
and errors about wrong arguments.

    bench_test.py PREFIX WORK
"""

import csv
import os
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

FIGURE, SERIES = "p1-5", {"threads", "processes"}  # those without a recipe


def bench(*words, cwd, **more):
    return subprocess.run([HEDDLE, "bench", *words], cwd=cwd, capture_output=True, text=True,
                          check=False, **more)


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def measured(folder):
    """Returns the lines of points that were measured, without those of points that were not."""
    files = list((folder / "points").glob(f"{FIGURE}.*.csv"))
    lines = files[0].read_text(encoding="utf-8").splitlines() if files else []
    return [line for line in lines[1:] if line.split(",")[0] != "0"]


def running(folder):
    """Returns the programs in the folder that processes run."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            program = os.readlink(process / "exe")
        except OSError:
            continue
        if program.startswith(str(folder)):
            found.append(program)
    return found


class Bench(unittest.TestCase):
    def setUp(self):
        self.work = WORK / self.id().rsplit(".", 1)[-1]
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.out = self.work / "heddle-bench"

    def succeed(self, *words, **more):
        done = bench(*words, cwd=self.work, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def refuse(self, *words):
        """Runs the command with wrong arguments; returns its errors."""
        done = bench(*words, cwd=self.work)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertFalse(self.out.exists())
        return done.stderr

    def test_lists_the_figures(self):
        listed = self.succeed().stdout
        self.assertRegex(listed, r"(?m)^p1: Give MPI Threading a Fair Chance")
        self.assertRegex(listed, rf"(?m)^  {FIGURE} +figure 5 +threads against processes")
        self.assertFalse(self.out.exists())

    def test_wrong_arguments(self):
        self.assertIn("unknown figure p1-99: there are files-cube, ", self.refuse("p1-99"))
        self.assertIn("unknown paper p77: there are files, p1", self.refuse("--paper", "p77"))
        self.assertIn("unknown peer lam", self.refuse(FIGURE, "--peer", "lam=/usr"))
        self.assertIn("/nowhere/bin/mpicc", self.refuse(FIGURE, "--peer", "mpich=/nowhere"))
        self.assertIn("contradict", self.refuse(FIGURE, "--resume", "--fresh"))
        self.assertIn("--turns", self.refuse(FIGURE, "--turns", "0"))
        self.assertIn("--seconds", self.refuse(FIGURE, "--seconds", "-1"))
        self.assertIn("p1-5 has no x 0", self.refuse(FIGURE, "--x", "0"))
        self.assertIn("nothing was measured in heddle-bench yet", self.refuse("--html"))

    def test_quick_run_writes_table_csv_plot_and_page(self):
        said = self.succeed(FIGURE, "--quick", "--html")
        self.assertIn("threads against processes", said.stdout)
        points = {(row["series"], row["x"]) for row in rows(self.out / f"{FIGURE}.csv")}
        self.assertEqual({x for _, x in points}, {"1", "2"})
        self.assertLessEqual({(series, x) for series in SERIES for x in "12"}, points)
        self.assertTrue(all(float(row["median"]) > 0 for row in rows(self.out / f"{FIGURE}.csv")))
        page = (self.out / "index.html").read_text(encoding="utf-8")
        self.assertIn("Threads stay far below processes in every MPI.", page)
        if "no matplotlib" in said.stderr:
            return
        picture = (self.out / f"{FIGURE}.svg").read_text(encoding="utf-8")
        for word in ("threads", "processes", "message rate [M/s]"):
            self.assertIn(f">{word}</text>", picture)
            self.assertIn(f">{word}</text>", page)

    def test_without_matplotlib_there_is_everything_else(self):
        (self.work / "matplotlib.py").write_text("raise ImportError\n", encoding="utf-8")
        said = self.succeed(FIGURE, "--quick", "--x", "1", env={**os.environ, "PYTHONPATH": str(self.work)})
        self.assertIn("no matplotlib (Debian: python3-matplotlib)", said.stderr)
        self.assertTrue(rows(self.out / f"{FIGURE}.csv"))
        self.assertFalse((self.out / f"{FIGURE}.svg").exists())

    def test_goes_on_after_an_interruption(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            self.interrupt(number)
        before = measured(self.out)
        self.assertGreaterEqual(len(before), 4)
        turns = int(before[-1].split(",")[0]) + 1
        self.succeed(*self.words(turns))
        after = measured(self.out)
        self.assertEqual(after[:len(before)], before)
        places = [tuple(line.split(",")[:4]) for line in after]
        self.assertEqual(len(places), len(set(places)))
        self.assertTrue({(str(turn), x, series, "heddle") for turn in range(1, turns + 1)
                         for x in "12" for series in SERIES} <= set(places))
        self.succeed(*self.words(turns))
        self.assertEqual(measured(self.out), after)
        self.succeed(*self.words(1), "--fresh")
        self.assertFalse(set(measured(self.out)) & set(after))

    @staticmethod
    def words(turns):
        return FIGURE, "--quick", "--turns", str(turns)

    def interrupt(self, number):
        """Starts a measurement that would never end, and sends it the signal after two more points."""
        with subprocess.Popen([HEDDLE, "bench", *self.words(100000)], cwd=self.work,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            enough = len(measured(self.out)) + 2
            for line in process.stderr:
                if len(measured(self.out)) >= enough:
                    break
            process.send_signal(number)
            _, said = process.communicate()
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("interrupted; the same command goes on from here", said)
        self.assertEqual(running(self.out), [])


if __name__ == "__main__":
    prefix, work = sys.argv[1:3]
    HEDDLE, WORK = Path(prefix).resolve() / "bin/heddle", Path(work).resolve()
    for name in [name for name in os.environ if name.startswith("HEDDLE_") or name == "LD_LIBRARY_PATH"]:
        del os.environ[name]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])

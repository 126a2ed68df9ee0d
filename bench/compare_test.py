# SPDX-License-Identifier: BSD-3-Clause
import os
import pathlib
import subprocess
import sys
import types
import unittest

import compare
import experiments
from laboratory import regime

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ["heddle", "one", "other"]


def chosen(foreign=()):
    return regime.Selection({}, frozenset(foreign), "")


class BestPeer(unittest.TestCase):
    def test_is_the_fastest_of_times_and_the_largest_of_rates(self):
        cells = {("row", "heddle"): 3.0, ("row", "one"): 2.0, ("row", "other"): 6.0}
        self.assertEqual(compare.best_peer(experiments.Row("row", "k", "us"), cells, chosen(), NAMES), "1.50 one")
        self.assertEqual(compare.best_peer(experiments.Row("row", "k", "M/s"), cells, chosen(), NAMES), "0.50 other")

    def test_is_of_the_same_regime(self):
        cells = {("row", "heddle"): 3.0, ("row", "one"): 2.0, ("row", "other"): 6.0}
        row = experiments.Row("row", "k", "us")
        self.assertEqual(compare.best_peer(row, cells, chosen([("row", "one")]), NAMES), "0.50 other")
        self.assertEqual(compare.best_peer(row, cells, chosen([("row", "heddle")]), NAMES), "")
        self.assertEqual(compare.best_peer(row, {("row", "heddle"): 3.0}, chosen(), NAMES), "")


class Experiments(unittest.TestCase):
    def test_one_word_stands_for_what_a_pair_is_asked(self):
        args = types.SimpleNamespace(only="pair", pairs="1,2", seconds=0.1, brief=True, clients=4)
        titles = [experiment.title for experiment in experiments.experiments(args)]
        self.assertEqual(len(titles), len(set(titles)))
        for title in ("Half a round trip, buffers left alone", "A message in windows of 64", "Collectives, 4 ranks",
                      "Multirate, 2 pairs, 0 B"):
            self.assertIn(title, titles)

    def test_each_figure_of_a_table_has_a_name_of_its_own(self):
        for experiment in [experiments.new_processes(), *experiments.messages_of_two_jobs(0.1),
                           *experiments.accumulates()]:
            labels = [row.label for run in experiment.runs for row in run.rows]
            self.assertEqual(len(labels), len(set(labels)), labels)
            for _, above, below in experiment.derived:
                self.assertLess({above, below}, set(labels))


class Pinned(unittest.TestCase):
    def test_each_rank_has_a_core_of_its_own_while_there_are_some(self):
        allowed = sorted(os.sched_getaffinity(0))
        show = [HERE / "pinned.sh", sys.executable, "-c", "import os; print(*os.sched_getaffinity(0))"]
        for variable in ("PMI_RANK", "OMPI_COMM_WORLD_RANK"):
            for rank in range(len(allowed) + 1):
                environment = {k: v for k, v in os.environ.items() if k not in ("PMI_RANK", "PMIX_RANK")}
                done = subprocess.run(show, env={**environment, variable: str(rank)}, capture_output=True, text=True,
                                      check=True)
                self.assertEqual(int(done.stdout), allowed[rank % len(allowed)])


if __name__ == "__main__":
    unittest.main()

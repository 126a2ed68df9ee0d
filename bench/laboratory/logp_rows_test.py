# SPDX-License-Identifier: BSD-3-Clause
import unittest

from laboratory import logp, logp_rows
from laboratory.logp_rows import CLOCK, REGIME, SCATTER, UNEXPLAINED, Comparison, Row
from laboratory.logp_test import COMPUTED, LENGTHS, TRUTH, world
from laboratory.regime import CHANGING, Sample

OTHERS = [10, 100, 10240, 1 << 20]
TURNS = 4


class Reasons(unittest.TestCase):
    def test_errors_are_percent_of_what_was_measured(self):
        self.assertAlmostEqual(Row(1, 11.0, 10.0).error, 10.0)
        self.assertAlmostEqual(Row(1, 8.0, 10.0).error, -20.0)

    def test_what_is_good_needs_none(self):
        self.assertEqual(Row(1, 11.4, 10.0, scatter=5.0, clock=5.0, foreign=True).reason, "")

    def test_the_first_that_holds(self):
        self.assertEqual(Row(1, 0.08, 0.05, scatter=1.0, clock=0.04).reason, CLOCK)
        self.assertEqual(Row(1, 0.10, 0.05, scatter=1.0, clock=0.04).reason, SCATTER)
        self.assertEqual(Row(1, 30.0, 20.0, scatter=9.0, clock=0.04, foreign=True).reason, REGIME)

    def test_none(self):
        self.assertEqual(Row(1, 30.0, 20.0, scatter=9.0, clock=0.04).reason, UNEXPLAINED)
        self.assertEqual(Row(1, 30.0, 20.0).reason, UNEXPLAINED)

    def test_all_are_said(self):
        self.assertEqual(set(logp_rows.REASONS), {CLOCK, SCATTER, REGIME, UNEXPLAINED})

    def test_an_outlier_is_no_scatter(self):
        self.assertEqual(logp_rows.middle_half([5.0, 5.0, 900.0, 5.0, 5.0]), 0.0)
        self.assertEqual(logp_rows.middle_half([1.0, 2.0, 3.0, 4.0, 5.0]), 2.0)
        self.assertEqual(logp_rows.middle_half([1.0, 900.0]), 0.0)


def cells(change=lambda kind, length, turn, time: time, regime_of=lambda kind, turn: "near"):
    """Returns samples of a true model, in some turns."""
    return {(kind, length): [Sample(regime_of(kind, turn), change(kind, length, turn, time)) for turn in range(TURNS)]
            for kind, times in vars(world(TRUTH, LENGTHS + OTHERS)).items() for length, time in times.items()}


def reasons(samples, table):
    rows = Comparison(samples, LENGTHS, COMPUTED).tables(OTHERS)[table]
    return [row.reason for row in rows]


class Comparisons(unittest.TestCase):
    ISEND = "MPI_Isend"

    def test_a_true_model_is_true(self):
        tables = Comparison(cells(), LENGTHS, COMPUTED).tables(OTHERS)
        self.assertEqual(list(tables), [table.name for table in logp.tables(COMPUTED)])
        for name, rows in tables.items():
            self.assertEqual([row.length for row in rows], OTHERS)
            for row in rows:
                self.assertLess(abs(row.error), 0.01, (name, row))

    def test_a_model_that_is_wrong_is_unexplained(self):
        def change(kind, length, turn, time):
            return 2 * time if kind == "isend" and length in OTHERS else time

        self.assertEqual(reasons(cells(change), self.ISEND), [UNEXPLAINED] * len(OTHERS))

    def test_measurements_that_scatter(self):
        def change(kind, length, turn, time):
            return time * (1, 2, 4, 9)[turn] if kind == "isend" and length in OTHERS else time

        self.assertEqual(reasons(cells(change), self.ISEND), [SCATTER] * len(OTHERS))

    def test_parameters_that_scatter(self):
        def change(kind, length, turn, time):
            return time * (1, 2, 4, 9)[turn] if kind == "isend" and length in LENGTHS else time

        self.assertEqual(reasons(cells(change), self.ISEND), [SCATTER] * len(OTHERS))

    def test_only_turns_of_one_regime_count(self):
        def change(kind, length, turn, time):
            return 9 * time if turn == 0 else time

        def regime_of(kind, turn):
            return "near" if turn else CHANGING

        compared = Comparison(cells(change, regime_of), LENGTHS, COMPUTED)
        self.assertIn("Regime near", compared.chosen.note)
        self.assertAlmostEqual(compared.model.g, TRUTH.g)
        self.assertEqual(len(compared.of_turns), TURNS - 1)

    def test_what_was_never_seen_in_the_regime(self):
        def change(kind, length, turn, time):
            return 2 * time if kind == "isend" and length in OTHERS else time

        samples = cells(change, lambda kind, turn: "far" if kind == "isend" else "near")
        self.assertEqual(reasons(samples, self.ISEND), [REGIME] * len(OTHERS))


if __name__ == "__main__":
    unittest.main()

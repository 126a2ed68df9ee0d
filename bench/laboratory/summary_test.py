# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import unittest

from laboratory.figure import At, Claim, End, Figure, Metric, Series, Who
from laboratory.points import SERIES_AS_A_WHOLE, Place, Point
from laboratory.readings import Result
from laboratory.summary import FEWEST_SAMPLES, number, summarise
from laboratory.tables import as_csv, as_text


class Stored:
    """Points that were never written: (series, contestant, x) -> rates, all in one regime."""
    configuration = {}

    def __init__(self, cells, more=()):
        self.points = [Point(Place(*place), turn, "near", values={"rate": value})
                       for place, values in cells.items() for turn, value in enumerate(values, 1)]
        self.points += more

    def read(self):
        return self.points


def figure(*claims):
    return Figure("p0-1", "figure 1", "a title", "A summary.", "multirate", "pairs", (1, 2, 4),
                  (Metric("rate", "message rate", "M/s", Result("rate")),),
                  (Series("threads", who=Who.ALL), Series("locked")), claims)


CELLS = {("threads", "heddle", 1): (5.0,), ("threads", "heddle", 4): (8.0, 10.0, 9.0),
         ("locked", "heddle", 1): (4.0,), ("locked", "heddle", 4): (3.0,),
         ("threads", "other", 1): (1.0,), ("threads", "other", 2): (2.0,)}


def verdicts(claim, cells=None):
    often = {place: values * FEWEST_SAMPLES for place, values in (cells or CELLS).items()}
    return summarise(figure(claim), Stored(often)).verdicts()


class Verdicts(unittest.TestCase):
    def check(self, claim, *expected):
        self.assertEqual([verdict.holds for verdict in verdicts(claim)], list(expected))

    def test_ratio_at_the_last_x_that_both_have(self):
        self.check(Claim("", At("threads"), At("locked"), least=2.9, most=3.1), True)
        self.check(Claim("", At("threads"), At("locked"), least=3.1), False)
        self.check(Claim("", At("threads"), At("locked"), most=2.9), False)

    def test_first_against_last_of_one_series(self):
        self.check(Claim("", At("locked"), At("locked", End.FIRST), most=0.75), True)

    def test_a_value_alone(self):
        self.check(Claim("", At("threads", 4), least=9), True)

    def test_for_each_contestant_that_has_both(self):
        self.check(Claim("", At("threads"), At("threads", End.FIRST), least=1.9, each=True), False, True)
        self.check(Claim("", At("threads"), At("locked"), least=1, each=True), True)

    def test_no_verdict_from_too_few_samples(self):
        claim = Claim("", At("threads"), At("locked"), least=1)
        verdict = summarise(figure(claim), Stored(CELLS)).verdicts()[0]
        self.assertIsNone(verdict.holds)
        self.assertEqual(verdict.word(), "measured too seldom to say")

    def test_not_measured(self):
        self.check(Claim("", At("threads", 2), At("locked", 2), least=1), None)
        cells = {("threads", "heddle", 1): (5.0,)}
        self.assertIsNone(verdicts(Claim("", At("threads"), At("locked"), least=1), cells)[0].holds)
        zero = {**CELLS, ("locked", "heddle", 4): (0.0,)}
        self.assertIsNone(verdicts(Claim("", At("threads"), At("locked"), least=1), zero)[0].holds)

    def test_says_what_was_found(self):
        found = verdicts(Claim("", At("threads"), At("locked"), least=2))[0].found
        self.assertEqual(found, "heddle: 9 M/s (threads, 4) / 3 M/s (locked, 4) = 3; asked for: at least 2")


class Showing(unittest.TestCase):
    def test_lines_name_contestants_only_if_there_are_several(self):
        labels = [line.label for line in summarise(figure(), Stored(CELLS)).lines]
        self.assertEqual(labels, ["heddle: threads", "other: threads", "heddle: locked"])
        own = {place: values for place, values in CELLS.items() if place[1] == "heddle"}
        self.assertEqual([line.label for line in summarise(figure(), Stored(own)).lines],
                         ["threads", "locked"])

    def test_what_the_distance_of_the_cores_does_not_change_counts_in_any_regime(self):
        def cell(any_regime):
            metric = Metric("rate", "message rate", "M/s", Result("rate"), any_regime=any_regime)
            far = Point(Place("locked", "heddle", 2), 1, "far", values={"rate": 7.0})
            summary = summarise(dataclasses.replace(figure(), metrics=(metric,)), Stored(CELLS, [far]))
            return summary.cells["rate"][far.place]
        self.assertTrue(cell(any_regime=False).foreign)
        self.assertFalse(cell(any_regime=True).foreign)

    def test_lines_without_the_metric_are_left_out(self):
        both = dataclasses.replace(figure(), metrics=(*figure().metrics, Metric("depth", "", "", Result("depth"))))
        deep = Point(Place("locked", "heddle", 1), 1, "near", values={"depth": 7.0})
        shown = as_text(summarise(both, Stored(CELLS, [deep]))).split("\n\n")
        self.assertIn("heddle: threads", shown[1])
        self.assertNotIn("heddle: threads", shown[2])
        self.assertIn("heddle: locked", shown[2])

    def test_csv_has_medians_and_ranges(self):
        lines = as_csv(summarise(figure(), Stored(CELLS))).splitlines()
        self.assertEqual(lines[0], "metric,unit,series,contestant,x,median,least,most,samples,comparable")
        self.assertIn("rate,M/s,threads,heddle,4,9.0,8.0,10.0,3,yes", lines)
        self.assertEqual(len(lines), 1 + len(CELLS))

    def test_problems_are_told_unless_a_later_turn_went_well(self):
        problems = [Point(Place("locked", "other", 1), SERIES_AS_A_WHOLE, problem="unknown knob"),
                    Point(Place("threads", "other", 4), 1, problem="exit 1"),
                    Point(Place("threads", "other", 1), 1, problem="exit 2")]
        summary = summarise(figure(), Stored(CELLS, problems))
        self.assertEqual(summary.problems, {"unknown knob": ["other, locked"],
                                            "exit 1": ["other, threads, x 4"]})
        self.assertIn("Not measured: unknown knob: other, locked", as_text(summary))

    def test_other_regimes_are_marked_and_not_compared(self):
        far = Point(Place("threads", "heddle", 2), 1, "far", values={"rate": 1.0})
        claim = Claim("", At("threads", 2), At("threads", 1), most=1)
        summary = summarise(figure(claim), Stored(CELLS, [far]))
        self.assertRegex(as_text(summary), r"heddle: threads +5 +~1 +9")
        self.assertIn("rate,M/s,threads,heddle,2,1.0,1.0,1.0,1,no", as_csv(summary))
        self.assertIsNone(summary.verdicts()[0].holds)

    def test_numbers(self):
        self.assertEqual([number(v) for v in (0.01234, 9.876, 123.44, 12345.6)],
                         ["0.0123", "9.88", "123.4", "12346"])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: BSD-3-Clause
import unittest

from laboratory import regime
from laboratory.regime import CHANGING, Sample


def samples(**values):
    """Returns a cell: samples(near=(1, 2), far=(3,))."""
    return [Sample(name, value) for name, all_of_it in values.items() for value in all_of_it]


class Regimes(unittest.TestCase):
    def test_names_follow_the_round_trip(self):
        self.assertEqual([regime.name_of(ns) for ns in (90, 120, 121, 350, 351, 9000)],
                         ["near", "near", "middle", "middle", "far", "far"])

    def test_a_sample_between_two_regimes_belongs_to_none(self):
        self.assertEqual(regime.between(100, 110), "near")
        self.assertEqual(regime.between(100, 500), CHANGING)

    def test_the_poorest_cell_decides(self):
        cells = {"a": samples(near=(1, 2, 3, 4), far=(5, 6)), "b": samples(near=(1,), far=(5, 6))}
        self.assertEqual(regime.common(cells), ("far", 2))

    def test_only_samples_of_the_common_regime_count(self):
        cells = {"a": samples(near=(1, 3, 100), far=(50,), changing=(999,)), "b": samples(near=(7,))}
        chosen = regime.select(cells)
        self.assertEqual(chosen.medians(), {"a": 3, "b": 7})
        self.assertEqual(chosen.note, "Regime near, 4 of 6 figures, at least 1 each")

    def test_no_common_regime_is_said(self):
        cells = {"a": samples(near=(1,)), "b": samples(far=(2,), changing=(4,)), "c": samples(near=(9,))}
        chosen = regime.select(cells)
        self.assertEqual(chosen.medians(), {"a": 1, "b": 3, "c": 9})
        self.assertEqual(chosen.foreign, {"b"})
        self.assertEqual(chosen.note, "Regime near, 2 of 4 figures, those with ~ have none in it")

    def test_changes_alone_are_nothing_to_compare(self):
        chosen = regime.select({"a": samples(changing=(1,)), "b": samples(changing=(2,))})
        self.assertEqual(chosen.foreign, {"a", "b"})
        self.assertIn("not comparable", chosen.note)

    def test_a_cell_that_only_saw_changes_has_no_common_regime(self):
        self.assertEqual(regime.common({"a": samples(near=(1,)), "b": samples(changing=(2,))})[1], 0)

    def test_what_the_distance_does_not_change_counts_always(self):
        chosen = regime.select({"a": samples(near=(1,), far=(3,), changing=(8,))}, any_regime=True)
        self.assertEqual(chosen.medians(), {"a": 3})

    def test_nothing_measured(self):
        self.assertEqual(regime.common({}), ("none", 0))
        self.assertEqual(regime.select({}).medians(), {})

    def test_most_seen(self):
        self.assertEqual(regime.most_seen({"a": samples(near=(1,), far=(2,)), "b": samples(far=(3,))}),
                         "far")


if __name__ == "__main__":
    unittest.main()

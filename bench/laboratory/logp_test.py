# SPDX-License-Identifier: BSD-3-Clause
import unittest

from laboratory import logp
from laboratory.logp import Line, Measured, Model, Parameters

LENGTHS = [1, 30, 300, 3000, 30000, 98304, 393216, 3 << 20, 6 << 20]
COMPUTED = 5000.0
TRUTH = Model(30000, Parameters(Line(2.0, 0.0001), Line(1.5, 0.0002), 0.5, Line(0.8, 0.0003), 8.0, 0.001),
              Parameters(Line(4.0), Line(0.0), 0.5, Line(3.0, 0.0002), 30.0, 0.0006), 0.3, 0.1)


def world(model, lengths):
    """What would be measured where the model is true."""
    def by(function):
        return {length: function(length) for length in lengths}

    def send_to_computing(length):
        return model.send(length) + (COMPUTED if length > model.limit else 0)

    return Measured(by(model.one_way), by(model.send), by(send_to_computing), by(model.isend),
                    by(lambda n: model.wait(n, COMPUTED)), by(lambda n: model.short.o_r), by(model.recv_early),
                    by(model.recv_late), model.g)


class Fit(unittest.TestCase):
    def test_finds_the_line(self):
        line = logp.fit({length: Line(3.0, 0.5).at(length) for length in LENGTHS})
        self.assertAlmostEqual(line.start, 3.0)
        self.assertAlmostEqual(line.per_byte, 0.5)

    def test_short_messages_weigh_as_much_as_long_ones(self):
        line = logp.fit({1: 10.0, 2: 10.0, 10**6: 1100.0, 2 * 10**6: 1900.0})
        self.assertAlmostEqual(line.at(1), 10.0, delta=0.5)

    def test_neither_falls_nor_begins_below_zero(self):
        self.assertEqual(logp.fit({1: 5.0, 1000: 4.0}).per_byte, 0.0)
        line = logp.fit({100: 1.0, 200: 9.0})
        self.assertEqual(line.start, 0.0)
        self.assertGreater(line.per_byte, 0.0)

    def test_a_single_point(self):
        self.assertEqual(logp.fit({7: 3.0}), Line(3.0))


class Limit(unittest.TestCase):
    def test_is_the_longest_send_that_does_not_wait(self):
        self.assertEqual(logp.buffered({1: 2.0, 10: 3.0, 100: 5100.0, 1000: 5.0}, COMPUTED), 10)
        self.assertEqual(logp.buffered({1: 2.0, 10: 3.0}, COMPUTED), 10)
        self.assertEqual(logp.buffered({1: 9000.0}, COMPUTED), 0)


class Models(unittest.TestCase):
    def test_parameters_are_found_again(self):
        found = logp.model_of(world(TRUTH, LENGTHS), COMPUTED)
        self.assertEqual(found.limit, TRUTH.limit)
        for mine, true in ((found.short, TRUTH.short), (found.long, TRUTH.long)):
            self.assertAlmostEqual(mine.L, true.L, places=4)
            self.assertAlmostEqual(mine.G, true.G, places=8)
            self.assertAlmostEqual(mine.o_s.at(100), true.o_s.at(100), places=4)
            self.assertAlmostEqual(mine.o_rb.at(100), true.o_rb.at(100), places=4)
        self.assertAlmostEqual(found.short.o_sb.at(5000), TRUTH.short.o_sb.at(5000))
        self.assertEqual(found.g, 0.3)

    def test_predicts_other_lengths(self):
        model = logp.model_of(world(TRUTH, LENGTHS), COMPUTED)
        others = [10, 100, 10240, 65536, 1 << 20, 8 << 20]
        for name, rows in logp.tables(model, world(TRUTH, others), COMPUTED).items():
            self.assertEqual([row.length for row in rows], others, name)
            for row in rows:
                self.assertLess(abs(row.error), 0.01, (name, row))

    def test_what_does_not_fit_in_the_computing_is_left_for_the_wait(self):
        self.assertEqual(TRUTH.wait(100, COMPUTED), TRUTH.o_w)
        left = TRUTH.one_way(100 << 20) - TRUTH.isend(100 << 20) - COMPUTED
        self.assertAlmostEqual(TRUTH.wait(100 << 20, COMPUTED), left)
        self.assertGreater(left, 1000)

    def test_all_short_or_all_long(self):
        """A model needs some of both, whatever was measured."""
        for limit in (0, 10**9):
            measured = world(TRUTH, LENGTHS)
            sends = {length: 1.0 if limit else 9000.0 for length in LENGTHS}
            measured = Measured(**{**vars(measured), "send_to_computing": sends})
            found = logp.model_of(measured, COMPUTED)
            self.assertIn(found.limit, LENGTHS[1:-2])

    def test_errors_are_percent_of_what_was_measured(self):
        self.assertAlmostEqual(logp.Row(1, 11.0, 10.0).error, 10.0)
        self.assertAlmostEqual(logp.Row(1, 8.0, 10.0).error, -20.0)


if __name__ == "__main__":
    unittest.main()

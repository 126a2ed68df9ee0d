# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import unittest

from laboratory import logp, logp_command
from laboratory.logp import Curve, Measured, Model

LENGTHS = [1, 30, 300, 3000, 30000, 98304, 393216, 3 << 20, 6 << 20]
COMPUTED = 5000.0


def line(start, per_byte=0.0):
    return Curve(((1, start + per_byte), (1 << 30, start + per_byte * (1 << 30))))


TRUTH = Model(limit=30000, o_s=line(2.0, 0.0001), o_sb=line(1.5, 0.0002), o_r=0.5, o_rb=line(0.8, 0.0003), o_w=line(0.1),
              way=line(10.0, 0.0006), g=0.3, w=line(40.0, 0.0001), w_s=9.0)


def world(model, lengths):
    """Returns the measurements that a true model would give."""
    def by(function):
        return {length: function(length) for length in lengths}

    def send_to_computing(length):
        return model.o_sb.at(length) + (COMPUTED if length > model.limit else 0)

    return Measured(
        one_way=by(model.one_way), send_to_waiting=by(model.send), send_to_computing=by(send_to_computing),
        isend=by(model.isend), wait=by(lambda n: model.wait(n, COMPUTED)), receiver_wait=by(lambda n: model.o_r),
        recv_early=by(model.recv_early), recv_late=by(model.recv_late),
        answer=by(lambda n: model.recv_late(n) + model.one_way(1)), waking_send=by(lambda n: model.o_sb.at(n) + model.w_s),
        gap={1: model.g}, clock=by(lambda n: 0.04))


class Curves(unittest.TestCase):
    def test_linear_between_points(self):
        curve = Curve.through({100: 3.0, 10: 1.0, 200: 23.0})
        self.assertEqual([curve.at(n) for n in (10, 55, 100, 150, 200)], [1.0, 2.0, 3.0, 13.0, 23.0])

    def test_before_and_after_them(self):
        curve = Curve.through({10: 1.0, 100: 3.0, 200: 23.0})
        self.assertEqual(curve.at(1), 1.0)
        self.assertEqual(curve.at(300), 43.0)
        self.assertEqual(curve.held(300), 23.0)

    def test_a_single_point(self):
        self.assertEqual([Curve.through({7: 3.0}).at(n) for n in (1, 7, 1000)], [3.0] * 3)

    def test_cut_off(self):
        curve = Curve.through({10: 1.0, 100: 3.0, 200: 23.0})
        self.assertEqual(curve.until(150).points, ((10, 1.0), (100, 3.0)))
        self.assertEqual(curve.until(0).points, ((10, 1.0),))


class Limit(unittest.TestCase):
    def test_is_the_longest_send_that_does_not_wait(self):
        self.assertEqual(logp.buffered({1: 2.0, 10: 3.0, 100: 5100.0, 1000: 5.0}, COMPUTED), 10)
        self.assertEqual(logp.buffered({1: 2.0, 10: 3.0}, COMPUTED), 10)
        self.assertEqual(logp.buffered({1: 9000.0}, COMPUTED), 0)


class Models(unittest.TestCase):
    def setUp(self):
        self.found = logp.model_of(world(TRUTH, LENGTHS), COMPUTED)

    def test_parameters_are_found_again(self):
        self.assertEqual(self.found.limit, TRUTH.limit)
        self.assertAlmostEqual(self.found.L, 10.0006 - 0.3 - 0.3)
        for name in ("g", "o_r", "w_s"):
            self.assertAlmostEqual(getattr(self.found, name), getattr(TRUTH, name), msg=name)
        for length in (1, 100, 20000, 30000):
            for name in ("o_s", "o_sb", "o_rb", "o_w", "way", "w"):
                self.assertAlmostEqual(getattr(self.found, name).at(length), getattr(TRUTH, name).at(length), msg=name)

    def test_G_is_the_slope_of_the_piece_that_ends_there(self):
        for length in LENGTHS[1:]:
            self.assertAlmostEqual(self.found.G(length), 0.0006)
        self.assertEqual(self.found.G(1), 0.0)

    def test_predicts_other_lengths(self):
        others = [10, 100, 10240, 65536, 1 << 20, 8 << 20]
        measured = world(TRUTH, others)
        for table in logp.tables(COMPUTED):
            for length in others:
                self.assertAlmostEqual(table.predict(self.found, length), getattr(measured, table.kind)[length], places=6,
                                       msg=(table.name, length))

    def test_who_wakes_a_receiver_needs_longer(self):
        self.assertAlmostEqual(self.found.send(300), TRUTH.o_sb.at(300) + 9.0)
        self.assertAlmostEqual(self.found.recv_late(300), TRUTH.one_way(300) + TRUTH.w.at(300))

    def test_a_message_by_itself_may_be_faster(self):
        measured = world(TRUTH, LENGTHS)
        found = logp.model_of(Measured(**{**vars(measured), "answer": dict.fromkeys(LENGTHS, 50.0)}), COMPUTED)
        self.assertLess(found.w.at(6 << 20), 0)
        self.assertAlmostEqual(found.recv_late(6 << 20), 50.0 - TRUTH.one_way(1))

    def test_what_does_not_fit_in_the_computing_is_left_for_the_wait(self):
        self.assertEqual(TRUTH.wait(100, COMPUTED), 0.1)
        left = TRUTH.one_way(100 << 20) - TRUTH.isend(100 << 20) - COMPUTED
        self.assertAlmostEqual(TRUTH.wait(100 << 20, COMPUTED), left)
        self.assertGreater(left, 1000)

    def test_waits_of_long_messages_are_no_parameter(self):
        """A wait depends on whether a worker thread has carried the message meanwhile."""
        measured = world(TRUTH, LENGTHS)
        waits = {length: 0.1 if length <= TRUTH.limit else 4000.0 for length in LENGTHS}
        found = logp.model_of(Measured(**{**vars(measured), "wait": waits}), COMPUTED)
        self.assertAlmostEqual(found.wait(1 << 20, COMPUTED), 0.1)

    def test_a_long_send_waits_for_room(self):
        self.assertAlmostEqual(self.found.send(1 << 20), TRUTH.recv_late((1 << 20) - 30000))
        quick = dataclasses.replace(TRUTH, o_sb=line(1.5, 0.002))  # its receiver keeps up
        self.assertAlmostEqual(quick.send(1 << 20), quick.o_sb.at(1 << 20) + 9.0)

    def test_nothing_is_copied(self):
        measured = world(TRUTH, LENGTHS)
        found = logp.model_of(Measured(**{**vars(measured), "send_to_computing": dict.fromkeys(LENGTHS, 9000.0)}), COMPUTED)
        self.assertEqual(found.limit, 0)
        self.assertAlmostEqual(found.send(3000), found.recv_late(3000))


class Lengths(unittest.TestCase):
    def test_parameters_come_from_others_than_those_that_are_predicted(self):
        self.assertFalse(set(logp_command.FITTED) & set(logp_command.PREDICTED))

    def test_each_that_is_predicted_lies_between_some(self):
        self.assertLess(min(logp_command.FITTED), min(logp_command.PREDICTED))
        self.assertGreater(max(logp_command.FITTED), max(logp_command.PREDICTED))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: BSD-3-Clause
import os
import pathlib
import tempfile
import unittest

from laboratory import points
from laboratory.points import Place, Point, Store

CONFIGURATION = {"metrics": ["rate", "depth"], "seconds": 0.1}


def point(turn=1, x=4, **more):
    usual = {"regime": "near", "line_before_ns": 100, "line_after_ns": 110, "seconds": 0.5,
             "values": {"rate": 9.125, "depth": 3.0}}
    return Point(Place("threads", "heddle", x), turn, **{**usual, **more})


class Storage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "points"
        self.store = Store(self.folder, "p1-3a", CONFIGURATION)

    def test_nothing_is_there_before_the_first_point(self):
        self.assertEqual(self.store.read(), [])
        self.assertFalse(self.folder.exists())
        self.assertIsNone(points.newest(self.folder, "p1-3a"))

    def test_points_come_back_as_they_were(self):
        all_of_it = [point(), point(turn=2, x="blocking", disturbed=True), point(values={"rate": 1e-7}),
                     point(problem='exit 1: "a", b', values={})]
        for one in all_of_it:
            self.store.add(one)
        self.assertEqual(self.store.read(), all_of_it)

    def test_a_problem_stays_one_line(self):
        self.store.add(point(problem="one\ntwo", values={}))
        self.assertEqual(self.store.read()[0].problem, "one two")
        self.assertEqual(len(self.store.path.read_text().splitlines()), 2)

    def test_a_line_cut_short_is_dropped_and_written_over(self):
        self.store.add(point())
        whole = self.store.path.read_bytes()
        for cut in range(1, len(b"2,4,threads,heddle")):
            self.store.path.write_bytes(whole + b"2,4,threads,heddle"[:cut])
            self.assertEqual(self.store.read(), [point()])
        self.store.add(point(turn=2))
        self.assertEqual(self.store.read(), [point(), point(turn=2)])
        self.assertTrue(self.store.path.read_bytes().startswith(whole))

    def test_a_title_cut_short_is_written_again(self):
        self.store.add(point())
        self.store.path.write_text("turn,x,ser")
        self.assertEqual(self.store.read(), [])
        self.store.add(point())
        self.assertEqual(self.store.read(), [point()])

    def test_another_configuration_is_another_file(self):
        self.store.add(point())
        other = Store(self.folder, "p1-3a", {**CONFIGURATION, "seconds": 0.2})
        self.assertEqual(other.read(), [])
        other.add(point(turn=7))
        self.assertEqual(self.store.read(), [point()])

    def test_newest_is_the_one_measured_last(self):
        other = Store(self.folder, "p1-3a", {**CONFIGURATION, "seconds": 0.2})
        stranger = Store(self.folder, "p1-3", CONFIGURATION)
        for one in (self.store, other, stranger):
            one.add(point())
        os.utime(self.store.path, (1, 1))
        os.utime(other.path, (2, 2))
        self.assertEqual(points.newest(self.folder, "p1-3a").configuration["seconds"], 0.2)
        self.store.touch()
        found = points.newest(self.folder, "p1-3a")
        self.assertEqual((found.path, found.configuration), (self.store.path, CONFIGURATION))

    def test_forgetting_leaves_other_configurations(self):
        other = Store(self.folder, "p1-3a", {**CONFIGURATION, "seconds": 0.2})
        self.store.add(point())
        other.add(point())
        self.store.forget()
        self.assertEqual(self.store.read(), [])
        self.assertEqual(other.read(), [point()])


if __name__ == "__main__":
    unittest.main()

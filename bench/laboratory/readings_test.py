# SPDX-License-Identifier: BSD-3-Clause
import unittest

from laboratory.readings import Counter, Ratio, Reading, Result

OUTPUT = """multirate: 4 pairs of threads
result bench=pingpong bytes=0 latency_us=0.2
result bench=pingpong bytes=64 latency_us=0.3 MBps=12.5
"""
ERRORS = """some warning
heddle: counters of rank 1 of 2
  out_of_sequence         0 messages
  received_messages    1280 messages
heddle: counters of rank 0 of 2
  received_messages      20 messages
"""


class Readings(unittest.TestCase):
    def setUp(self):
        self.reading = Reading.of(OUTPUT, ERRORS)

    def test_the_first_result_that_has_the_key(self):
        self.assertEqual(Result("latency_us").read(self.reading), 0.2)
        self.assertEqual(Result("MBps").read(self.reading), 12.5)
        self.assertIsNone(Result("rate").read(self.reading))

    def test_the_result_that_has_all_that_is_asked_for(self):
        self.assertEqual(Result("latency_us", {"bytes": "64"}).read(self.reading), 0.3)
        self.assertEqual(Result("latency_us", {"MBps": None}).read(self.reading), 0.3)
        self.assertIsNone(Result("latency_us", {"bytes": "1"}).read(self.reading))

    def test_counters_of_one_rank_and_of_all(self):
        self.assertEqual(Counter("received_messages").read(self.reading), 1300)
        self.assertEqual(Counter("received_messages", 0, 0.5).read(self.reading), 10)
        self.assertEqual(Counter("out_of_sequence", 1).read(self.reading), 0)
        self.assertIsNone(Counter("out_of_sequence", 0).read(self.reading))
        self.assertIsNone(Counter("match_time").read(self.reading))

    def test_ratios(self):
        received = Counter("received_messages", 1)
        self.assertEqual(Ratio(Counter("received_messages", 0), received, 100).read(self.reading), 1.5625)
        self.assertIsNone(Ratio(received, Counter("out_of_sequence", 1)).read(self.reading))
        self.assertIsNone(Ratio(Counter("nothing"), received).read(self.reading))
        self.assertEqual(Ratio(Result("rate"), received).counters(), {"received_messages"})


if __name__ == "__main__":
    unittest.main()

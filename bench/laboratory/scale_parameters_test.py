# SPDX-License-Identifier: BSD-3-Clause
import unittest

from laboratory import logp_test, scale_parameters
from laboratory.scale_parameters import LENGTHS, STREAMED


class Parameters(unittest.TestCase):
    def pingpong(self, hosts, words, prefix):
        self.asked.append((hosts, words, prefix))
        sizes = [int(size) for size in words[words.index("--sizes") + 1].split(",")]
        if "--window" in words:
            return {size: size * 0.002 for size in sizes}
        return {size: (4 + size * 0.01 if hosts > 1 else 3.0) for size in sizes}

    def setUp(self):
        self.asked = []

    def test_between_hosts(self):
        found = scale_parameters.measured(self.pingpong, 2, ())
        self.assertEqual(found["switch_us"], 3.0)
        self.assertAlmostEqual(found["byte_us"], 0.002)
        self.assertEqual(set(found["overhead_us"]), set(LENGTHS))
        self.assertAlmostEqual(found["overhead_us"][1024], (1 + 10.24) / 2)
        self.assertEqual([hosts for hosts, _, _ in self.asked], [1, 2, 2])
        self.assertEqual([bool(prefix) for _, _, prefix in self.asked], [True, True, False])

    def test_within_a_node(self):
        found = scale_parameters.measured(self.pingpong, 1, ())
        self.assertNotIn("byte_us", found)
        self.assertAlmostEqual(found["copied_byte_us"], 0.002)
        self.assertEqual(found["overhead_us"][1], 0.0)

    def test_text(self):
        text = scale_parameters.printed("a title", logp_test.TRUTH, {"switch_us": 1.25, "overhead_us": {10: 2.0, 1: 1.5}})
        self.assertEqual(text.splitlines()[0], "# a title")
        self.assertIn("most_copied 30000\n", text)
        self.assertIn("switch_us 1.25\n", text)
        self.assertIn("overhead_us 1:1.5 10:2\n", text)
        self.assertRegex(text, r"\nway_us 1:10\S* 1073741824:\S+\n")
        self.assertGreater(STREAMED, 0)


if __name__ == "__main__":
    unittest.main()

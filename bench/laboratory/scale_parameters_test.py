# SPDX-License-Identifier: BSD-3-Clause
import unittest

from laboratory import logp_test, scale_parameters
from laboratory.scale_parameters import LENGTHS, STREAMED, TURNS


class Parameters(unittest.TestCase):
    def pingpong(self, hosts, words, prefix):
        self.asked.append((hosts, words, prefix))
        sizes = [int(size) for size in words[words.index("--sizes") + 1].split(",")]
        if "--window" in words:
            return {size: size * 0.002 for size in sizes}
        if "both" in words:
            return {size: hosts * (1 + size * 0.01) for size in sizes}
        if "one" in words:
            return {size: 0.75 * hosts * (1 + size * 0.01) for size in sizes}
        return {size: 4.5 for size in sizes}  # on one core

    def setUp(self):
        self.asked = []

    def test_between_hosts(self):
        found = scale_parameters.measured(self.pingpong, 2, (), logp_test.TRUTH)
        self.assertAlmostEqual(found["switch_us"], 4.5 - 2.02)
        self.assertAlmostEqual(found["byte_us"], 0.002)
        self.assertEqual(set(found["o_s_us"]), set(LENGTHS))
        self.assertAlmostEqual(found["o_s_us"][1024], 1.5 * (1 + 10.24))
        self.assertAlmostEqual(found["o_r_us"][1024], 0.5 * (1 + 10.24))
        handshake = 2 * logp_test.TRUTH.way.at(1)
        self.assertAlmostEqual(found["o_s_us"][65536], (2 * 656.36 - handshake) / 2)  # not copied
        self.assertAlmostEqual(found["o_r_us"][65536], found["o_s_us"][65536])
        self.assertEqual([hosts for hosts, _, _ in self.asked], [2] * 4 * TURNS)
        self.assertEqual([bool(prefix) for _, _, prefix in self.asked], [False, False, True, False] * TURNS)

    def test_within_a_node(self):
        found = scale_parameters.measured(self.pingpong, 1, (), logp_test.TRUTH)
        self.assertNotIn("byte_us", found)
        self.assertAlmostEqual(found["copied_byte_us"], 0.002)
        self.assertAlmostEqual(found["o_s_us"][1], 0.75 * 1.01)

    def test_text(self):
        text = scale_parameters.printed("a title", logp_test.TRUTH, {"switch_us": 1.25, "o_s_us": {10: 2.0, 1: 1.5}})
        self.assertEqual(text.splitlines()[0], "# a title")
        self.assertIn("most_copied 30000\n", text)
        self.assertIn("switch_us 1.25\n", text)
        self.assertIn("o_s_us 1:1.5 10:2\n", text)
        self.assertRegex(text, r"\nway_us 1:10\S* 1073741824:\S+\n")
        self.assertGreater(STREAMED, 0)


if __name__ == "__main__":
    unittest.main()

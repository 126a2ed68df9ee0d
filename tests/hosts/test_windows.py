# SPDX-License-Identifier: BSD-3-Clause
"""Programs with windows on two and four hosts: those that run on one (tests/mpi)."""

import os
import unittest

import hosts

PROGRAMS = os.environ["WINDOWS"]
LAUNCHERS = {name: hosts.LAUNCHERS[name] for name in ("hydra", "hydra in turn")}


class Windows(unittest.TestCase):
    def assert_ends(self, program, counts=((2, 2),)):
        for name, launcher in LAUNCHERS.items():
            for count, each in counts:
                ended = hosts.run(count, f"{launcher(count, each)} {PROGRAMS}{program}")
                self.assertEqual((ended.code, ended.out), (0, ""), f"{name}: {ended}")

    def test_every_function(self):
        self.assert_ends(" 5", ((2, 2), (4, 1)))

    def test_errors(self):
        self.assert_ends("_errors")

    def test_random_programs(self):
        self.assert_ends("_random 8")

    def test_random_programs_of_threads(self):
        self.assert_ends("_random 3 2")

    def test_threads(self):
        self.assert_ends("_threads")

    def test_nobody_waits_for_a_target_that_computes(self):
        self.assert_ends("_computing")

    def test_locks_of_all_targets_beside_exclusive_ones(self):
        self.assert_ends("_locks 300", ((2, 2), (3, 1)))


if __name__ == "__main__":
    hosts.main()

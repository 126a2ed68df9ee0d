# SPDX-License-Identifier: BSD-3-Clause
"""MPI is opened again on several hosts after its last user has left. Each process opens it at its own time."""

import os
import unittest

import hosts

PROGRAM = os.environ["OPENINGS"]


class Openings(unittest.TestCase):
    def assert_done(self, words, launchers=hosts.LAUNCHERS, cases=((2, 2),)):
        for name in launchers:
            for count, each in cases:
                ended = hosts.run(count, f"{hosts.LAUNCHERS[name](count, each)} {PROGRAM} {words}")
                self.assertEqual((ended.code, ended.out, ended.err), (0, "", ""), f"{name}: {ended}")

    def test_ten_openings(self):
        self.assert_done("again 10", cases=((2, 2), (4, 1)))

    def test_all_call_all_at_once(self):
        # prterun needs as many cores as ranks.
        self.assert_done("storm 8", launchers=("hydra", "hydra in turn"), cases=((2, 16),))

    def test_who_stays_away_longer_than_a_silent_rank_may_is_waited_for(self):
        self.assert_done("absent 17", launchers=("hydra",))

    def test_a_message_that_comes_an_opening_too_early(self):
        self.assert_done("early")

    def test_who_has_ended_after_its_last_session_is_not_lost(self):
        self.assert_done("leave 1", cases=((3, 1),))

    def test_an_abort_after_a_second_opening_ends_all(self):
        for name, launcher in hosts.LAUNCHERS.items():
            ended = hosts.run(2, f"{launcher(2, 2)} {PROGRAM} abort 7")
            self.assertEqual(ended.code, 7, f"{name}: {ended}")
            self.assertNotIn("left behind", ended.err, ended)


if __name__ == "__main__":
    hosts.main()

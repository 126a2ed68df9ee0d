# SPDX-License-Identifier: BSD-3-Clause
"""Launchers on two and four hosts: what they tell ranks, the memory of each host, and how a job ends."""

import os
import unittest

import hosts

PROGRAM = os.environ["PROGRAM"]
CONFORMANCE = os.environ["CONFORMANCE"]
ENDS = os.environ["ENDS"]
COUNTS = (2, 4)
EACH = 2


def cases():
    return [(launcher(count, EACH), count) for launcher in hosts.LAUNCHERS.values() for count in COUNTS]


class Launchers(unittest.TestCase):
    def assert_nothing_left(self, ended):
        self.assertNotIn("left behind", ended.err, ended)

    def test_the_contract(self):
        for launcher, count in cases():
            ended = hosts.run(count, f"{launcher} {CONFORMANCE} {count * EACH} {count}")
            self.assertEqual(ended.code, 0, ended)
            self.assertEqual(ended.lines(), sorted(f"rank {rank} conforms" for rank in range(count * EACH)))

    def test_ranks_are_connected(self):
        for launcher, count in cases():
            ended = hosts.run(count, f"{launcher} {PROGRAM} hello")
            self.assertEqual(ended.code, 0, ended)
            self.assertEqual(ended.lines(), sorted(f"rank {rank} of {count * EACH}" for rank in range(count * EACH)))
            self.assert_nothing_left(ended)

    def test_an_abort_ends_all(self):
        for launcher, count in cases():
            ended = hosts.run(count, f"{launcher} {ENDS} abort 7")
            self.assertEqual(ended.code, 7, ended)
            self.assertIn("heddle: the last rank gives up", ended.err)
            self.assert_nothing_left(ended)

    def test_the_death_of_a_rank_ends_all(self):
        for launcher, count in cases():
            ended = hosts.run(count, f"{launcher} {ENDS} die")
            self.assertNotEqual(ended.code, 0, ended)
            self.assertIn(" is ", ended.out, ended)  # Hydra may lose the last words of some ranks
            self.assert_nothing_left(ended)

    def test_the_death_of_the_launcher_ends_all(self):
        for launcher, count in cases():
            ended = hosts.run(count, f"""
                mkfifo /tmp/said
                {launcher} {ENDS} wait >/tmp/said &
                {{ for rank in $(seq {count * EACH}); do read line; done; kill -KILL $!; cat; }} </tmp/said""")
            self.assert_nothing_left(ended)

    def test_the_death_of_a_daemon_ends_its_ranks(self):
        """The network or the launcher decides whether the other ranks end, too. A daemon's death loses its ranks' output."""
        for name, daemon in (("hydra", "hydra_pmi_proxy"), ("prterun", "prted")):
            ended = hosts.run(2, f"""
                mkfifo /tmp/said
                {hosts.LAUNCHERS[name](2, EACH)} {ENDS} wait >/tmp/said &
                {{ for rank in $(seq {2 * EACH}); do read line; done; }} </tmp/said
                $HOSTS_AGENT node2 'pgrep -c -x {os.path.basename(ENDS)}; pkill -KILL -x {daemon}
                                    while pgrep -x {os.path.basename(ENDS)} >/dev/null; do sleep 0.05; done'
                kill -KILL $!""")
            self.assertEqual(ended.out.strip(), str(EACH), ended)
            self.assert_nothing_left(ended)


if __name__ == "__main__":
    hosts.main()

# SPDX-License-Identifier: BSD-3-Clause
"""Hosts that fall silent at a random moment while large messages are under way. All of the job ends, on either side, by a
message that names a rank of the other. Nothing is left.

REPEATS: how often each kind of silence is tested (default 1).
"""

import os
import random
import re
import shutil
import unittest

import hosts

MESSAGES = os.environ["MESSAGES"]
MPIEXEC = os.environ["MPIEXEC"]
REPEATS = int(os.environ.get("REPEATS", "1"))
EACH = 2
LONGEST = 200  # steps of a tenth of a second: ten seconds of silence, five of patience, and the rest
NFT = """nft add table inet silence
nft add chain inet silence in "{ type filter hook input priority 0 ; }"
nft add chain inet silence out "{ type filter hook output priority 0 ; }"
nft add rule inet silence in iifname eth0 drop
nft add rule inet silence out oifname eth0 drop""".replace("\n", " && ")
# By kind of silence: a command that silences node2, and one that ends this, so that the launcher's processes there can end.
WAYS = {"cut": ("$HOSTS_AGENT --cut node2", "$HOSTS_AGENT --mend node2"),
        "nft": (f"$HOSTS_AGENT node2 '{NFT}'", "$HOSTS_AGENT node2 'nft delete table inet silence'"),
        "down": ("$HOSTS_AGENT node2 'ip link set eth0 down'", "$HOSTS_AGENT node2 'ip link set eth0 up'")}


class InEachWay:
    """Tests by assert_all_ends() with each kind of silence."""

    def test_no_packet_gets_through(self):
        self.assert_all_ends("cut")

    @unittest.skipUnless(shutil.which("nft"), "nft is not installed")
    def test_a_firewall_drops_all(self):
        self.assert_all_ends("nft")

    def test_an_interface_is_down(self):
        self.assert_all_ends("down")


class Silence(InEachWay, unittest.TestCase):
    def ends(self, way, launcher, moment):
        silence, mend = WAYS[way]
        # The agent that waits for the end of the ranks of node2 uses no network.
        return hosts.run(2, f"""
            mkfifo /tmp/said
            {hosts.LAUNCHERS[launcher](2, EACH)} {MESSAGES} large >/tmp/said 2>/tmp/why &
            {{ for rank in $(seq {2 * EACH}); do read line; done; sleep {moment:.3f}; {silence}; cat; }} </tmp/said &
            wait %1; echo ended $?
            $HOSTS_AGENT node2 'while pgrep -x {os.path.basename(MESSAGES)} >/dev/null; do sleep 0.05; done'
            echo none there
            cat /tmp/why
            {mend}""")

    def assert_all_ends(self, way, launcher="hydra"):
        for _ in range(REPEATS):
            moment = random.uniform(0, 0.5)
            ended = self.ends(way, launcher, moment)
            with self.subTest(way=way, launcher=launcher, moment=moment):
                code = re.search(r"(?m)^ended (\d+)$", ended.out)
                self.assertTrue(code and code[1] != "0", ended)
                self.assertIn("none there", ended.out, ended)
                self.assertRegex(ended.out, r"rank [01]: lost rank [23]: ", ended)
                self.assertNotIn("left behind", ended.err, ended)


class SilenceUnderPrrte(InEachWay, unittest.TestCase):
    """PRRTE's daemons would wait for minutes, and mpiexec has them ended. The tests count time in steps, so that a test that
    is stopped counts none."""

    def assert_all_ends(self, way):
        silence, mend = WAYS[way]
        start = (f"{MPIEXEC} --via {hosts.PLACE}/prterun --host node1:{EACH},node2:{EACH} -n {2 * EACH}")
        there = f"while pgrep -x \"prted|{os.path.basename(MESSAGES)[:15]}|mpiexec\" >/dev/null; do echo step; sleep 0.1; done"
        for _ in range(REPEATS):
            moment = random.uniform(0, 0.5)
            ended = hosts.run(2, f"""{hosts.START_BY_AGENT}
                mkfifo /tmp/said
                {start} {MESSAGES} large >/tmp/said 2>/tmp/why & job=$!
                for rank in $(seq {2 * EACH}); do read line; done </tmp/said
                sleep {moment:.3f}; {silence}
                $HOSTS_AGENT node2 '{there}' >/tmp/there & watch=$!
                while pgrep -x "prterun|mpiexec" >/dev/null; do echo step; sleep 0.1; done >/tmp/here
                wait $job; echo ended $?
                wait $watch; wc -l </tmp/here; wc -l </tmp/there
                cat /tmp/why
                {mend}""")
            with self.subTest(way=way, moment=moment):
                found = re.match(r"ended (\d+)\n(\d+)\n(\d+)\n", ended.out)
                self.assertTrue(found and found[1] != "0", ended)
                for steps in found.groups()[1:]:
                    self.assertLess(int(steps), LONGEST, ended)
                # PRRTE may notice first, and then ends the job without a word.
                if not re.search(r"(?m)^mpiexec: \S+/prterun \(pid \d+\) (ended with exit code 255|was ended by)", ended.out):
                    self.assertRegex(ended.out, r"heddle: rank [01]: lost rank [23]: 10\.77\.0\.2 port \d+: ", ended)
                    self.assertRegex(ended.out, r"mpiexec: rank [01] \(pid \d+, .* on node1\) ended with exit code 1\n", ended)
                self.assertNotIn("left behind", ended.err, ended)


if __name__ == "__main__":
    hosts.main()

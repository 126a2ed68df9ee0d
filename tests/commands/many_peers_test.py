# SPDX-License-Identifier: BSD-3-Clause
"""The memory of a rank that exchanges no messages, in a job of 10,000: at most 14 MB, and 64 bytes for each of the others.

    many_peers_test.py SCRIPT PROGRAM
"""

import re
import subprocess
import sys
import unittest

RANKS = 10_000


def resident(ranks):
    """Returns the resident KiB of a rank, and those of them that are its own."""
    done = subprocess.run([*COMMAND, str(ranks)], capture_output=True, text=True, check=True)
    said = re.search(rf"ranks={ranks} rss_kib=(\d+) anon_kib=(\d+)", done.stdout)
    return int(said[1]), int(said[2])


class ManyPeers(unittest.TestCase):
    def test_memory_of_an_empty_rank(self):
        few = resident(2)
        many = resident(RANKS)
        self.assertLessEqual(many[0] * 1024, 14e6)
        self.assertGreater(many[1], few[1])  # the rank knows of its peers
        self.assertLessEqual((many[1] - few[1]) * 1024, 64 * RANKS)


if __name__ == "__main__":
    COMMAND = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1], verbosity=2)

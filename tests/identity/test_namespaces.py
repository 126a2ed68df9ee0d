# SPDX-License-Identifier: BSD-3-Clause
"""Ranks in PID namespaces of their own: the same process ids, other processes."""

import unittest

from harness import LaunchTest
from identity import NAMESPACE, OWN_NAMESPACES, allowed, main, program


@unittest.skipUnless(allowed(*NAMESPACE, "true"), OWN_NAMESPACES)
class Namespaces(LaunchTest):
    def assert_good(self, *arguments):
        self.assertEqual(self.run_job(*arguments), (0, "", ""))

    def test_every_rank_has_the_same_process_id(self):
        for ways in ("auto", "always"):
            self.assert_good("-n", 3, "-x", f"HEDDLE_SINGLE_COPY={ways}", *NAMESPACE, program("copies"), "bystander")

    def test_the_process_id_is_that_of_another_process(self):
        for ways in ("auto", "always"):
            self.assert_good("-n", 2, "-x", f"HEDDLE_SINGLE_COPY={ways}", *NAMESPACE, program("beside"),
                             program("copies"))

    def test_one_rank_is_elsewhere(self):
        self.assert_good("-n", 3, "-x", "HEDDLE_SINGLE_COPY=always", "sh", "-c",
                         f'[ $PMI_RANK = 1 ] && exec {" ".join(NAMESPACE)} {program("copies")}; exec {program("copies")}')

    def test_others_go_on_copying(self):
        """If one peer cannot be read, ranks still read the other peers."""
        code, out, err = self.run_job(
            "-n", 3, "-x", "HEDDLE_SINGLE_COPY=always", "-x", "HEDDLE_COUNTERS=^single_copy_bytes$|^pipelined_bytes$",
            "sh", "-c",
            f'[ $PMI_RANK = 2 ] && exec {" ".join(NAMESPACE)} {program("copies")}; exec {program("copies")}')
        self.assertEqual((code, out), (0, ""), err)
        of_rank = {}
        for line in err.splitlines():
            words = line.split()
            if line.startswith("heddle:"):
                rank = int(line.split(" rank ")[1].split()[0])
            else:
                of_rank[rank, words[0]] = int(words[1])
        a_round = 9000 + 70000 + 300000  # copies.c: to each neighbour 3 times of 6, and twice by one_way()
        self.assertEqual(of_rank[1, "single_copy_bytes"], (3 + 2) * a_round)  # from rank 0
        self.assertEqual(of_rank[1, "pipelined_bytes"], 3 * a_round)          # from rank 2
        self.assertEqual(of_rank[0, "single_copy_bytes"], 3 * a_round)        # from rank 1
        self.assertEqual(of_rank[0, "pipelined_bytes"], (3 + 2) * a_round)    # from rank 2
        self.assertEqual(of_rank[2, "single_copy_bytes"], 0)
        self.assertEqual(of_rank[2, "pipelined_bytes"], (3 + 3 + 2) * a_round)


if __name__ == "__main__":
    main()

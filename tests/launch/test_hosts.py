# SPDX-License-Identifier: BSD-3-Clause
"""Launchers on two hosts with a network between them (tools/hosts.sh): what they tell, and how a job ends."""

import os
import subprocess
import sys
import unittest

from harness import WATCHDOG

PLACE = os.environ["LAUNCHERS"]
PROGRAM = os.environ["PROGRAM"]
CONFORMANCE = os.environ["CONFORMANCE"]
HOSTS = os.environ["HOSTS"]
SEVERAL_HOSTS = "ranks on several hosts are not connected yet: no network transport"
SKIPPED = 77

HYDRA = f"{PLACE}/mpiexec.hydra -launcher ssh -launcher-exec $HOSTS_AGENT -hosts node1,node2 -n 4"
PRTERUN = (f"{PLACE}/prterun --prtemca plm_ssh_agent $HOSTS_AGENT --prtemca prte_launch_agent {PLACE}/prted "
           "--host node1:2,node2:2 -n 4")
LAUNCHERS = (HYDRA, PRTERUN)


def on_hosts(command):
    environment = dict(os.environ, PRTE_ALLOW_RUN_AS_ROOT="1", PRTE_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run([HOSTS, "2", "sh", "-c", command], env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=WATCHDOG, check=False, text=True)
    return done.returncode, done.stdout, done.stderr


class Hosts(unittest.TestCase):
    def test_the_contract(self):
        for launcher in LAUNCHERS:
            code, out, err = on_hosts(f"{launcher} {CONFORMANCE} 4 2")
            self.assertEqual(code, 0, err)
            self.assertEqual(out.count("conforms"), 4)

    def test_ranks_end_with_the_truth(self):
        for launcher in LAUNCHERS:
            code, out, err = on_hosts(f"{launcher} {PROGRAM} hello; code=$?; echo done; exit $code")
            self.assertNotEqual(code, 0)
            self.assertEqual(out.split(), ["done"])
            self.assertIn(SEVERAL_HOSTS, err)


if __name__ == "__main__":
    if not os.path.exists(f"{PLACE}/mpiexec.hydra") or on_hosts("true")[0] == SKIPPED:
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)

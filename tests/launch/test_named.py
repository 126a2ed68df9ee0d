# SPDX-License-Identifier: BSD-3-Clause
"""Errors about a launcher that is there, but cannot be reached or understood: no rank runs alone in silence."""

import os
import socket
import subprocess
import sys
import unittest

from harness import WATCHDOG

PROGRAM = os.environ["PROGRAM"]
SIGNS = ("PMI_", "PMIX_", "OMPI_", "SLURM_", "HEDDLE_NODE_FD")


def closed_port():
    """Returns a port at which no process listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Named(unittest.TestCase):
    def assert_named(self, text, **variables):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(SIGNS)}
        done = subprocess.run([PROGRAM, "hello"], env={**clean, **variables}, capture_output=True, timeout=WATCHDOG,
                              check=False, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn(text, done.stderr)

    def test_pmix(self):
        self.assert_named("PMIx", PMIX_RANK="0", PMIX_NAMESPACE="nobody@1")
        self.assert_named("a PMIx launcher without PMIX_NAMESPACE", PMIX_RANK="0")
        self.assert_named("Open MPI's mpirun", OMPI_COMM_WORLD_SIZE="4")

    def test_pmi_port(self):
        self.assert_named("a PMI launcher without PMI_ID", PMI_PORT="localhost:1")
        self.assert_named("where it is not to be reached", PMI_PORT=f"127.0.0.1:{closed_port()}", PMI_ID="0")
        self.assert_named("it names no port", PMI_PORT="nowhere", PMI_ID="0")

    def test_pmi(self):
        self.assert_named("is no connection to a launcher", PMI_FD="0", PMI_RANK="0", PMI_SIZE="2")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

# SPDX-License-Identifier: BSD-3-Clause
"""Parts that the tests of this folder share: programs, and questions about what the machine lets a test do."""

import os
import subprocess
import sys
import unittest

PROGRAMS = os.environ["PROGRAMS"]


def program(name):
    return os.path.join(PROGRAMS, f"identity_{name}")


def allowed(*command):
    """Returns whether the machine lets this user run the command."""
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


NAMESPACE = ["unshare", "-p", "-f", "--mount-proc"]
OWN_NAMESPACES = "PID namespaces are not allowed here"


def main():
    """Runs the tests as unittest does; exits with 77 if all were skipped."""
    result = unittest.main(verbosity=2, exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun == len(result.skipped) else 0)

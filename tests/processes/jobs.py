# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that a test starts, and that nothing of them is left in the end."""

import contextlib
import os
import pathlib
import random
import subprocess
import tempfile
import time
import unittest

LIMIT = 60


def run(*command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT, **options)


def start(*command, **options):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def until(condition, what):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what} within {LIMIT} s")
        time.sleep(0.01)


def marked(mark):
    """Processes that have the mark in their environment."""
    found = []
    for place in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (place / "environ").read_bytes() and (place / "stat").read_text().split(") ")[1][0] != "Z":
                found.append(int(place.name))
    return found


class JobsTest(unittest.TestCase):
    def setUp(self):
        self.mark = f"HEDDLE_TEST_MARK_{os.getpid()}_{random.getrandbits(48)}"
        self.environment = {**os.environ, "TEST_MARK": self.mark}
        self.folder = tempfile.TemporaryDirectory()
        self.shared = set(os.listdir("/dev/shm"))

    def tearDown(self):
        until(lambda: not marked(self.mark), "all processes have ended")
        self.assertEqual(set(os.listdir("/dev/shm")) - self.shared, set())
        self.folder.cleanup()

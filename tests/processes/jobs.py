# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that a test starts, and a check that nothing of them is left in the end."""

import os
import subprocess
import tempfile
import unittest
import uuid

from harness import MARK, marked, our_files, wait_until

LIMIT = 60


def run(*command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT, **options)


def start(*command, **options):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


class JobsTest(unittest.TestCase):
    def setUp(self):
        self.mark = uuid.uuid4().hex
        self.environment = {**os.environ, MARK: self.mark}
        self.folder = tempfile.TemporaryDirectory()
        self.files = our_files()

    def tearDown(self):
        wait_until(lambda: not marked(self.mark), "all processes to end")
        self.assertEqual(our_files() - self.files, set())
        self.folder.cleanup()

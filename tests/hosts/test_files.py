# SPDX-License-Identifier: BSD-3-Clause
"""Files on two and four hosts: the programs of one host (tests/mpi), in a folder that all hosts see. One file is on one host
alone."""

import os
import pathlib
import shutil
import tempfile
import unittest

import hosts

PROGRAMS = os.environ["FILES"]
LAUNCHER = hosts.LAUNCHERS["hydra"]


class Files(unittest.TestCase):
    def setUp(self):
        # The folder is beside the programs, which all hosts see as well; a host has a /tmp of its own.
        self.folder = tempfile.mkdtemp(dir=pathlib.Path(PROGRAMS).parent)
        self.addCleanup(shutil.rmtree, self.folder)

    def assert_ends(self, program, count=2, each=2):
        ended = hosts.run(count, f"TMPDIR={self.folder} {LAUNCHER(count, each)} {PROGRAMS}{program}")
        self.assertEqual(ended.code, 0, str(ended))

    def test_every_function(self):
        self.assert_ends("", 2, 1)

    def test_random_programs(self):
        self.assert_ends("_random 5")
        self.assert_ends("_random 3 50", 4, 1)

    def test_errors(self):
        self.assert_ends("_errors", 2, 1)

    def test_several_at_once(self):
        self.assert_ends("_together")
        self.assert_ends("_together", 3, 1)

    def test_files_that_become_full(self):
        self.assert_ends("_random 5 300 full")

    def test_file_of_one_host_is_refused(self):
        ended = hosts.run(2, f"{LAUNCHER(2, 1)} {PROGRAMS} /tmp/heddle-of-one-host")
        self.assertNotEqual(ended.code, 0)
        self.assertRegex(ended.err, "MPI_ERR_NO_SUCH_FILE.*by rank 1 on host .*although rank 0 on host")


if __name__ == "__main__":
    hosts.main()

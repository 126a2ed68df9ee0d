# SPDX-License-Identifier: BSD-3-Clause
"""Errors that name the system call that the kernel refuses."""

import os
import subprocess
import unittest

from harness import MPIEXEC, WATCHDOG, LaunchTest
from identity import allowed, main, program


def run(*command, **environment):
    done = subprocess.run(command, env=dict(os.environ, **environment), capture_output=True, timeout=WATCHDOG,
                          check=False, text=True)
    return done.returncode, done.stdout, done.stderr


@unittest.skipUnless(allowed(program("refuse"), "membarrier", "EPERM", "none", "true"), "filters are forbidden here")
class SystemCalls(LaunchTest):
    def refused(self, call, error, *command):
        return run(program("refuse"), call, error, "all", *command)

    def test_no_memory_for_a_program_alone(self):
        for error, text in (("EPERM", "Operation not permitted"), ("ENOSYS", "Function not implemented")):
            code, out, err = self.refused("memfd_create", error, program("program"))
            self.assertEqual((code, out), (1, ""))
            self.assertIn(f"memfd_create: {text}", err)

    def test_no_memory_for_a_job(self):
        code, out, err = self.refused("memfd_create", "EPERM", MPIEXEC, "-n", "2", program("program"))
        self.assertEqual((code, out), (1, ""))
        self.assertIn("memfd_create: Operation not permitted", err)
        self.assertNotIn("descriptor", err)

    def test_no_memory_for_rank_0_under_pmi(self):
        code, out, err = self.run_job("-n", 2, "env", "-u", "HEDDLE_NODE_FD", program("refuse"), "memfd_create", "EPERM",
                                      "all", program("program"))
        self.assertNotEqual(code, 0)
        self.assertEqual(out, "")
        self.assertIn("heddle: rank 0 cannot share memory with the others: memfd_create: Operation not permitted", err)

    def test_no_copies_between_processes(self):
        for call in ("process_vm_readv", "process_vm_writev"):
            for who in ("all", "1"):
                self.assertEqual(self.run_job("-n", 2, "-x", "HEDDLE_SINGLE_COPY=always", program("refuse"), call,
                                              "EPERM", who, program("copies")), (0, "", ""))

    def test_advice_names_a_membarrier_that_is_refused(self):
        code, _, err = self.run_job("--advice", "-n", 2, program("refuse"), "membarrier", "EPERM", "1", program("program"))
        self.assertEqual(code, 0, err)
        self.assertEqual(err.count("membarrier to rank 1 (Operation not permitted)"), 2, err)

    def test_info_names_a_membarrier_that_is_refused(self):
        heddle = os.path.join(os.path.dirname(MPIEXEC), "heddle")
        code, out, err = run(heddle, "info")
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"membarrier +works")
        code, out, err = self.refused("membarrier", "ENOSYS", heddle, "info")
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"membarrier +refused \(Function not implemented\)")


class Limits(unittest.TestCase):
    def test_no_descriptor_is_free(self):
        code, out, err = run(program("program"), "files")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("memfd_create: Too many open files (at most 3 descriptors, ulimit -n)", err)

    def test_files_may_not_be_as_large(self):
        for command in ([program("program")], [MPIEXEC, "-n", "2", program("program")]):
            code, out, err = run("sh", "-c", 'ulimit -f 2000; exec "$@"', "sh", *command)
            self.assertEqual((code, out), (1, ""), err)
            self.assertRegex(err, r"this needs \d+ MB of shared memory in a file, of which ulimit -f allows \d+ MB")


if __name__ == "__main__":
    main()

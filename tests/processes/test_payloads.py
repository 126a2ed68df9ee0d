# SPDX-License-Identifier: BSD-3-Clause
"""Large messages between two jobs, with and without the permission to read the memory of their senders.

Environment: PAYLOADS (payloads.c), REFUSE (tests/identity/refuse.c), MPIEXEC.
"""

import os
import re
import subprocess
import unittest

from jobs import JobsTest, run

PAYLOADS, REFUSE, MPIEXEC = (os.environ[name] for name in ("PAYLOADS", "REFUSE", "MPIEXEC"))
OWN_PROCESS_IDS = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
COUNTERS = ("single_copy_bytes", "pipelined_bytes")


def is_allowed(*command):
    return subprocess.run((*command, "true"), capture_output=True, check=False).returncode == 0


class Payloads(JobsTest):
    def exchange(self, *launcher, single_copy):
        """Returns how many bytes both processes have read and been sent, as COUNTERS."""
        done = run(*launcher, PAYLOADS, "exchange", env={
            **self.environment, "HEDDLE_SINGLE_COPY": single_copy,
            "HEDDLE_COUNTERS": "|".join(f"^{name}$" for name in COUNTERS)})
        self.assertEqual((done.returncode, done.stdout), (0, "fine\n"), done.stderr)
        return [sum(map(int, re.findall(rf"^ +{name} +(\d+) bytes$", done.stderr, re.M))) for name in COUNTERS]

    def test_payloads_are_read_where_that_is_wanted(self):
        read, sent = self.exchange(single_copy="always")
        self.assertGreater(read, 20 * sent)
        self.assertGreater(sent, 0)  # those that have gaps at the receiver

    def test_payloads_are_sent_otherwise(self):
        for single_copy in ("auto", "never"):
            read, sent = self.exchange(single_copy=single_copy)
            self.assertEqual(read, 0)
            self.assertGreater(sent, 0)

    def test_payloads_are_sent_where_the_kernel_does_not_allow_reading(self):
        for error in ("EPERM", "ENOSYS"):
            launcher = (REFUSE, "process_vm_readv", error, "all")
            if not is_allowed(*launcher):
                self.skipTest("filters are forbidden here")
            read, sent = self.exchange(*launcher, single_copy="always")
            self.assertEqual(read, 0)
            self.assertGreater(sent, 0)

    def test_payloads_are_read_within_a_namespace_of_process_ids(self):
        if not is_allowed(*OWN_PROCESS_IDS):
            self.skipTest("namespaces are forbidden here")
        read, sent = self.exchange(*OWN_PROCESS_IDS, single_copy="always")
        self.assertGreater(read, sent)

    def test_a_payload_that_cannot_be_read_to_its_end_is_sent(self):
        for single_copy in ("always", "never"):
            done = run(PAYLOADS, "hidden", env={**self.environment, "HEDDLE_SINGLE_COPY": single_copy})
            self.assertEqual((done.returncode, done.stdout), (0, "fine\n"), done.stderr)

    def test_payloads_come_while_their_receiver_computes(self):
        for single_copy in ("always", "never"):
            done = run(PAYLOADS, "computes", env={**self.environment, "HEDDLE_SINGLE_COPY": single_copy})
            self.assertEqual((done.returncode, done.stdout), (0, "fine\n"), done.stderr)

    def test_the_end_of_a_process_in_the_middle_of_a_message_is_an_error(self):
        for single_copy in ("always", "never"):
            for wait in ("recv", "irecv", "ssend", "issend"):
                done = run(PAYLOADS, "lost", wait, env={**self.environment, "HEDDLE_SINGLE_COPY": single_copy})
                self.assertEqual((done.returncode, done.stdout), (0, "fine\n"), wait + done.stderr)


if __name__ == "__main__":
    unittest.main()

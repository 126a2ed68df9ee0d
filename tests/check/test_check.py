# SPDX-License-Identifier: BSD-3-Clause
"""Findings of mpiexec --check: MPIEXEC runs DEFECTS, programs with one defect each.

test_check.py GROUP: one of the groups below, or "right" or "output".
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

MPIEXEC, DEFECTS = (os.environ[name] for name in ("MPIEXEC", "DEFECTS"))
WATCHDOG = 200
AT = r"defects\.c:\d+"

# By group: the name of the program, the kind of the finding, and its text.
FINDINGS = {
    "collectives": [
        ("bcast_root", "collective-root", r"call #1 on MPI_COMM_WORLD has root [01], but root [01] on rank [01] at " + AT),
        ("allreduce_count", "collective-data", r"has [34] MPI_INT, but [34] MPI_INT on rank"),
        ("allreduce_type", "collective-data", r"has 1 MPI_(DOUBLE|LONG_LONG), but 1 MPI_(DOUBLE|LONG_LONG) on rank"),
        ("reduce_operation", "collective-operation", r"has MPI_(SUM|MAX), but MPI_(SUM|MAX) on rank"),
        ("other_collective", "collective-call", r"call #1 on MPI_COMM_WORLD is MPI_(Barrier|Allreduce) on rank [01] at " + AT),
        ("gather_size", "collective-data", r"has [12] MPI_INT, but [12] MPI_INT on rank"),
        ("gatherv_size", "collective-data", r"(receives 2|sends 1) MPI_INT (from|to) rank"),
        ("alltoallv_size", "collective-data", r"(receives 2|sends 1) MPI_INT (from|to) rank"),
        ("allgatherv_counts", "collective-data", r"has [34] MPI_INT, but [34] MPI_INT on rank|receives 2 MPI_INT"),
        ("ibcast_root", "collective-root", r"has root [01], but root [01] on rank"),
        ("nonblocking_with_blocking", "collective-call", r"is MPI_I?[bB]arrier on rank"),
    ],
    "between_groups": [
        ("between_type", "message-type", r"receives 2 MPI_INT, but rank 0 has sent 1 MPI_DOUBLE \(MPI_Send at " + AT + ", tag 5"),
        ("between_type_of_duplicate", "message-type", r"receives 2 MPI_INT, but rank 0 has sent 1 MPI_DOUBLE"),
        ("between_unreceived", "unreceived", r"the message to rank 1 with tag 7 \(1 MPI_INT\) is never received"),
        ("between_bcast_type", "collective-data", r"has 2 MPI_(INT|FLOAT), but 2 MPI_(INT|FLOAT) on rank"),
        ("between_reduce_operation", "collective-operation", r"has MPI_(SUM|MAX), but MPI_(SUM|MAX) on rank"),
        ("between_other_collective", "collective-call", r"is MPI_(Barrier|Allreduce) on rank [01] at " + AT),
    ],
    "partitioned": [
        ("partitioned_type", "message-type", r"receives 8 MPI_FLOAT, but rank 0 has sent 8 MPI_INT \(MPI_Psend_init at " + AT + ", tag 5"),
        ("partitioned_changed", "buffer-changed", r"partition 1 was changed after MPI_Pready, before MPI_Wait at " + AT),
        ("partitioned_missing_wait", "missing-wait", r"not complete at MPI_Finalize"),
        ("partitioned_unreceived", "unreceived", r"the message to rank 1 with tag 5 \(8 MPI_INT\) is never received"),
    ],
    "messages": [
        ("double_as_int", "message-type", r"receives 2 MPI_INT, but rank 0 has sent 1 MPI_DOUBLE \(MPI_Send at " + AT + ", tag 5"),
        ("double_as_int_any", "message-type", r"receives 2 MPI_INT, but rank 0 has sent 1 MPI_DOUBLE"),
        ("matched_type", "message-type", r"receives 1 MPI_INT, but rank 0 has sent 1 MPI_FLOAT"),
        ("struct_order", "message-type", r"receives 12 bytes of mixed types, but rank 0 has sent 12 bytes of mixed types"),
        ("persistent_type", "message-type", r"receives 1 MPI_INT, but rank 0 has sent 1 MPI_FLOAT \(MPI_Send_init"),
        ("sendrecv_type", "message-type", r"receives 1 MPI_INT, but rank [01] has sent 1 MPI_FLOAT"),
        ("unreceived", "unreceived", r"the message to rank 1 with tag 7 \(1 MPI_INT\) is never received"),
    ],
    "requests": [
        ("changed_buffer", "buffer-changed", r"the buffer was changed before MPI_Wait at " + AT),
        ("changed_vector", "buffer-changed", r"the buffer was changed before MPI_Wait at " + AT),
        ("changed_of_several", "buffer-changed", r"the buffer was changed before MPI_Waitall at " + AT),
        ("overlapping_receives", "buffer-overlap", r"receives into memory into which MPI_Irecv at " + AT + " receives"),
        ("send_of_receive_buffer", "buffer-overlap", r"reads memory into which MPI_Irecv at " + AT),
        ("receive_into_send_buffer", "buffer-overlap", r"receives into memory that MPI_Isend at " + AT + " still reads"),
        ("missing_wait", "missing-wait", r"not complete at MPI_Finalize"),
        ("persistent_not_freed", "leak-request", r"never freed"),
        ("waited_twice", "request-twice", r"the request of MPI_Irecv at " + AT + " was completed before, at " + AT),
        ("started_twice", "request-twice", r"the request of MPI_Recv_init at " + AT + " is started again"),
    ],
    "leaks": [
        ("leaked_communicator", "leak-communicator", "never freed"),
        ("leaked_idup", "leak-communicator", "never freed"),
        ("leaked_datatype", "leak-datatype", "never freed"),
        ("leaked_group", "leak-group", "never freed"),
        ("leaked_window", "leak-window", "never freed"),
        ("leaked_file", "leak-file", "never closed"),
        ("leaked_info", "leak-info", "never freed"),
        ("leaked_operation", "leak-operation", "never freed"),
    ],
    "threads": [
        ("funneled", "thread-level", "a thread that has not initialized MPI calls it under MPI_THREAD_FUNNELED"),
        ("single", "thread-level", "a thread that has not initialized MPI calls it under MPI_THREAD_SINGLE"),
        ("two_at_once", "thread-level", r"thread \d+ is in MPI_Reduce_local at " + AT + " at the same time"),
    ],
    "promises": [
        ("no_any_source", "assertion", "mpi_assert_no_any_source"),
        ("no_any_tag", "assertion", "mpi_assert_no_any_tag"),
        ("exact_length", "assertion", "receives 4 bytes into room for 8, .*mpi_assert_exact_length"),
        ("no_succeed", "assertion", "MPI_MODE_NOSUCCEED"),
        ("no_precede", "assertion", "MPI_MODE_NOPRECEDE"),
        ("no_put", "assertion", r"writes to target 0, whose fence at " + AT + " has asserted MPI_MODE_NOPUT"),
        ("no_locks", "assertion", "no_locks"),
        ("same_size", "assertion", "same_size"),
    ],
    "windows": [
        ("fence_conflict", "rma-conflict", r"same bytes at target 0 as MPI_Put of rank [01] at " + AT),
        ("put_and_get", "rma-conflict", r"same bytes at target \d as MPI_Put at " + AT),
        ("mixed_operations", "rma-conflict", r"same bytes at target 0 as MPI_Accumulate"),
        ("no_epoch", "epoch", "outside of an epoch"),
        ("unlocked", "epoch", "target 0 is not locked"),
    ],
}
RIGHT = ["right_messages", "right_collectives", "right_windows", "right_threads", "right_orders_of_requests",
         "right_order_of_messages", "right_between_groups", "right_partitioned", "right_duplicates", "right_after_errors",
         "right_with_tool", "right_accesses"]


def run(name, ranks, *options, arguments=()):
    job = subprocess.run([MPIEXEC, *options, "-n", str(ranks), DEFECTS, name, *arguments], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, timeout=WATCHDOG,
                         env={**os.environ, "HEDDLE_DEADLOCK": "abort"})
    return job.stdout


def findings(output):
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


class Check(unittest.TestCase):
    group = ""

    def test_a_defect_is_found_once_with_its_place(self):
        for name, kind, text in FINDINGS.get(self.group, []):
            with self.subTest(program=name):
                output = run(name, 2, "--check", "--json")
                found = findings(output)
                self.assertEqual([one["check"] for one in found], [kind], output)
                self.assertRegex(found[0]["text"], text)
                self.assertRegex(found[0]["at"], "^" + AT + "$")
                self.assertIn(found[0]["rank"], (0, 1))
                self.assertTrue(found[0]["call"].startswith("MPI_"))
                self.assertTrue(found[0]["advice"].endswith("."))

    def test_nothing_is_found_without_check(self):
        for name, _, _ in FINDINGS.get(self.group, []):
            with self.subTest(program=name):
                self.assertNotIn("check: ", run(name, 2))


class Right(unittest.TestCase):
    def test_a_program_without_defects_has_no_finding(self):
        for name in RIGHT:
            for ranks in (1, 2, 4):
                with self.subTest(program=name, ranks=ranks):
                    if name in ("right_threads",) and ranks == 1:
                        continue
                    self.assertEqual(run(name, ranks, "--check"), "")


    def test_a_rank_may_wait_for_another_one_before_it_initializes_mpi(self):
        for name, kinds in (("right_late_rank", []), ("late_rank_type", ["message-type"])):
            with self.subTest(program=name), tempfile.TemporaryDirectory() as place:
                output = run(name, 2, "--check", "--json", arguments=(f"{place}/sent",))
                self.assertEqual([one["check"] for one in findings(output)], kinds, output)

    def test_a_job_within_a_rank_is_one_of_its_own(self):
        """The shell of a rank starts a job, checked or not, that has as many ranks."""
        for options in ([], ["--check"]):
            script = f'"$0" {" ".join(options)} -n 2 "$1" right_messages && "$1" right_messages'
            job = subprocess.run([MPIEXEC, "--check", "-n", "2", "sh", "-c", script, MPIEXEC, DEFECTS], capture_output=True,
                                 text=True, timeout=WATCHDOG)
            self.assertEqual((job.returncode, job.stdout, job.stderr), (0, "", ""), options)


class Output(unittest.TestCase):
    def test_a_finding_is_a_line(self):
        self.assertRegex(run("double_as_int", 2, "--check"),
                         r"\Acheck: rank 1 at " + AT + r", MPI_Recv: receives 2 MPI_INT, but rank 0 has sent 1 MPI_DOUBLE "
                         r"\(MPI_Send at " + AT + r", tag 5\)\. Name the same types on both sides\.\n\Z")

    def test_thread_of_a_finding_is_named(self):
        self.assertRegex(run("funneled", 2, "--check"), r"check: rank [01], thread 1 at " + AT)

    def test_a_program_without_mpi_is_left_alone(self):
        job = subprocess.run([MPIEXEC, "--check", "-n", "2", "sh", "-c", "echo here"], capture_output=True, text=True,
                             timeout=WATCHDOG)
        self.assertEqual((job.stdout, job.stderr), ("here\nhere\n", ""))


if __name__ == "__main__":
    group = sys.argv.pop(1)
    cases = {"right": Right, "output": Output}.get(group, Check)
    Check.group = group
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(cases)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())

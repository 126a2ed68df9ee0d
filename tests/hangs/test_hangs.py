# SPDX-License-Identifier: BSD-3-Clause
"""The verdicts on programs that hang, and on some that only seem to: MPIEXEC runs HANGS; HEDDLE where looks at it.

test_hangs.py GROUP: one of the groups below, or "where".
"""

import json
import os
import signal
import subprocess
import sys
import time
import unittest

MPIEXEC, HEDDLE, HANGS = (os.environ[name] for name in ("MPIEXEC", "HEDDLE", "HANGS"))
WATCHDOG = 100
AT = r" at hangs.c:\d+"

# By group: name of the program, ranks, and forms of the first sentence of the verdict and of another one.
STUCK = {
    "messages": [
        ("recv_recv", 2, "deadlock: ranks 0, 1 wait for each other for ever",
         r"rank 0 waits for rank 1 in MPI_Recv\(source 1, tag 1, MPI_COMM_WORLD\)" + AT),
        ("recv_recv", 4, "deadlock: ranks 0-3 wait for each other for ever", r"rank 3 waits for rank 0 in MPI_Recv"),
        ("ssend_ssend", 3, "deadlock: ranks 0-2 wait for each other for ever",
         r"rank 2 waits for rank 0 in MPI_Ssend\(dest 0, tag 1, 4 bytes, MPI_COMM_WORLD\)"),
        ("send_send", 2, "deadlock: ranks 0, 1 wait for each other for ever",
         r"rank 1 waits for rank 0 in MPI_Send\(dest 0, tag 1, 67108864 bytes, MPI_COMM_WORLD\)" + AT +
         r"\nmpiexec:   MPI_Send of ranks 0, 1 only completes with buffering, which MPI does not promise"),
        ("self_recv", 3, "deadlock: rank 0 waits for itself for ever, and so ranks 1, 2 do, too",
         r"rank 0 waits for itself in MPI_Recv\(source 0"),
        ("self_ssend", 2, "deadlock: rank 0 waits for itself for ever, and so rank 1 does, too",
         r"rank 0 waits for itself in MPI_Ssend\(dest 0, to itself"),
        ("any_source", 3, "deadlock: ranks 0, 1 wait for each other for ever, and so rank 2 does, too",
         r"rank 0 waits for any of ranks 1, 2 in MPI_Recv\(source MPI_ANY_SOURCE, tag MPI_ANY_TAG"),
        ("wrong_tag", 3, "deadlock: ranks 0, 1 wait for each other", r"rank 1 waits for rank 0 in MPI_Recv\(source 0, tag 2"),
        ("wrong_tag", 2, "deadlock: ranks 0, 1", r"hint: rank 1: from rank 0 lies tag 1; tag 2 is awaited\n"),
        ("wrong_communicator", 2, "deadlock: ranks 0, 1",
         r"hint: rank 1: from rank 0 lies tag 2 on 'halo' \(communicator \d+\); it is awaited on MPI_COMM_WORLD\n"),
        ("wrong_source", 3, "deadlock: ranks 0, 1 wait", r"hint: rank 0: from rank 2 lies tag 3; it is awaited from rank 1\n"),
        ("wrong_tag_late", 3, "deadlock: ranks 0-2 wait",
         r"hint: ranks 0-2: from rank 2, 0, 1 lies tag 1; tag 2 is awaited\n"),
        ("sendrecv", 3, "deadlock: ranks 0-2 wait for each other", r"rank 0 waits for rank 1 in MPI_Sendrecv\(source 1, tag 2"),
        ("waitall", 3, "deadlock: ranks 0-2 wait for each other",
         r"MPI_Waitall\(all of: receive: source 2, tag 1, MPI_COMM_WORLD; receive: source 1, tag 2, MPI_COMM_WORLD\)"),
        ("waitall_half", 3, "deadlock: ranks 0-2 wait for each other", r"rank 0 waits for rank 1 in MPI_Waitall\(source 1, tag 2"),
        ("waitany", 3, "deadlock: ranks 0-2 wait for each other", r"MPI_Waitany\(any of: receive: source 2, tag 1"),
        ("waitsome", 3, "deadlock: ranks 0-2 wait for each other", r"MPI_Waitsome\(any of: receive: source 2, tag 1"),
        ("many_requests", 2, "deadlock: ranks 0, 1 wait for each other", r"MPI_Waitall\(all of: .*; and 17 more\)"),
        ("persistent", 2, "deadlock: ranks 0, 1 wait for each other", r"MPI_Wait\(source 1, tag 1, MPI_COMM_WORLD\)"),
        ("probe", 2, "deadlock: ranks 0, 1 wait for each other", r"MPI_Probe\(source 1, tag 1, MPI_COMM_WORLD\)"),
        ("mprobe", 2, "deadlock: ranks 0, 1 wait for each other", r"MPI_Mprobe\(source MPI_ANY_SOURCE, tag 1"),
        ("partitioned", 2, "deadlock: ranks 0, 1 wait for each other", r"MPI_Wait\(partitioned, other rank 1, tag 1"),
        ("generalized", 1, "deadlock: rank 0 waits for itself for ever", r"MPI_Wait\(the program completes the request\)"),
        ("from_finished", 2, "deadlock: ranks 0, 1 wait for each other", r"rank 1 waits for rank 0 in MPI_Finalize"),
        ("buffered", 2, "deadlock: ", r"rank 0 waits for rank 1 in MPI_Buffer_detach"),
        ("issend", 2, "deadlock: ranks 0, 1 wait for each other", r"MPI_Wait\(dest 1, tag 1, 4 bytes, MPI_COMM_WORLD\)"),
        ("waitany_mixed", 3, "deadlock: ranks 0-2 wait for each other", r"MPI_Waitany\(any of: send: dest 1, tag 1, 4 bytes"),
        ("partitions_missing", 2, "deadlock: ranks 0, 1", r"rank 1 waits for rank 0 in MPI_Wait\(partitioned, other rank 0"),
        ("session_mismatch", 2, "collective mismatch: call #1 on 'everybody'", r"MPI_Barrier #1 on 'everybody'"),
        ("session_ended", 3, "rank 0 waits for rank 1, which ended with exit code 0", r"MPI_Recv\(source 1, tag 1"),
    ],
    "collectives": [
        ("mismatch", 3, "collective mismatch: call #2 on MPI_COMM_WORLD is MPI_Allreduce on rank 1, but MPI_Barrier on ranks 0, 2",
         r"rank 0 waits for rank 1 in MPI_Barrier #2 on MPI_COMM_WORLD" + AT),
        ("mismatch_nonblocking", 3,
         "collective mismatch: call #1 on MPI_COMM_WORLD is MPI_Ibarrier on rank 1, but MPI_Barrier on ranks 0, 2",
         r"MPI_Wait\(MPI_Ibarrier #1 on MPI_COMM_WORLD\)"),
        ("two_communicators", 3, "deadlock: ranks 0, 1 wait for each other",
         r"rank 0 waits for rank 1 in MPI_Barrier #1 on 'halo' \(communicator \d+\)"),
        ("missing_barrier", 4, "deadlock: ", r"rank 3 waits for rank 0 in MPI_Recv\(source 0, tag 5, MPI_COMM_WORLD\)"),
        ("finalized_early", 3, "deadlock: ", r"in MPI_Finalize\(for MPI_Finalize of rank \d\)"),
        ("ibarrier", 3, "deadlock: ranks 0, 1 wait for each other",
         r"rank 0 waits for any of ranks 1, 2 in MPI_Wait\(MPI_Ibarrier #1 on MPI_COMM_WORLD\)"),
        ("order_of_communicators", 2, "deadlock: ranks 0, 1 wait for each other", r"rank 1 waits for rank 0 in MPI_Allreduce #1 on 'second'"),
        ("split_missing", 3, "deadlock: ", r"rank 0 waits for rank \d in MPI_Comm_split on MPI_COMM_WORLD"),
        ("neighbors", 3, "deadlock: ", r"rank 1 waits for rank 0 in MPI_Neighbor_allgather #1 on 'ring'"),
        ("intercommunicator_missing", 2, "deadlock: ranks 0, 1 wait for each other", r"rank 0 waits for rank 1 in MPI_Intercomm_create"),
        ("intercommunicator_barrier", 2, "deadlock: ranks 0, 1 wait for each other", r"rank 1 waits for rank 0 in MPI_Barrier #1 on 'both'"),
        ("comm_dup", 2, "deadlock: ranks 0, 1 wait for each other", r"rank 1 waits for rank 0 in MPI_Recv\(source 0, tag 3"),
        ("large_allreduce", 2, "deadlock: ranks 0, 1 wait for each other", r"in MPI_Allreduce #1 on MPI_COMM_WORLD"),
        ("subgroup", 4, "deadlock: ranks 0, 2 wait for each other for ever, and so ranks 1, 3 do, too",
         r"rank 0 waits for rank 2 in MPI_Recv\(source 1, tag 1, 'half' \(communicator \d+\)\)"),
        ("intercommunicator", 2, "deadlock: ranks 0, 1 wait for each other", r"rank 0 waits for rank 1 in MPI_Recv\(source 0"),
    ],
    "windows": [
        ("window_lock", 3, "deadlock: ", r"in MPI_Win_lock\(target 0, cells, held by rank 0\)"),
        ("window_order", 2, "deadlock: ranks 0, 1", r"rank 1 waits for rank 0 in MPI_Win_lock\(target 0, left, held by rank 0\)"),
        ("window_lock_all", 2, "deadlock: ranks 0, 1", r"rank 1 waits for rank 0 in MPI_Win_lock_all\("),
        ("window_missing", 2, "deadlock: ranks 0, 1", r"rank 0 waits for rank 1 in MPI_Win_allocate"),
        ("window_start", 2, "deadlock: ranks 0, 1", r"in MPI_Win_start\(target 1, cells, for its MPI_Win_post\)"),
        ("window_wait", 2, "deadlock: ranks 0, 1", r"in MPI_Win_wait\(origin 1, cells, for its MPI_Win_complete\)"),
        ("window_fence", 2, "deadlock: ranks 0, 1", r"rank 0 waits for rank 1 in MPI_Win_fence on "),
    ],
    "files": [
        ("file_collective", 3, "deadlock: ",
         r"rank 1 waits for rank 0 in MPI_File_write_at_all on 'file hangs-\d+' \(communicator \d+\)" + AT),
        ("file_missing", 3, "deadlock: ", r"rank 0 waits for rank \d in MPI_File_open"),
    ],
    "threads": [
        ("wrong_tag_taken", 2, "deadlock: ranks 0, 1 wait for each other", r"(?s)\A(?!.*hint).*rank 0 waits for rank 1 in MPI_Recv"),
        ("threads", 3, "deadlock: ranks 0-2 wait for each other", r"rank 1 waits for rank 2 in MPI_Recv"),
        ("mutex_and_message", 2, "deadlock: ranks 0, 1 wait for each other", r"ranks 0, 1: a thread waits for a mutex that thread 0 holds"),
        ("idle_pool", 2, "deadlock: ranks 0, 1 wait for each other", r"rank 0 waits for rank 1 in MPI_Recv"),
        ("joined", 2, "deadlock: ranks 0, 1 wait for each other", r"ranks 0, 1: a thread waits for the end of thread 1"),
        ("idle_thread_funneled", 2, "deadlock: ranks 0, 1 wait for each other", r"rank 0 waits for rank 1 in MPI_Recv"),
    ],
}
# Ranks that hang beside others that do not: mpiexec tells nothing before a user asks.
ASKED = {
    "messages": [
        ("pair_beside", 3, "deadlock: ranks 0, 1 wait for each other for ever", r"rank 1 waits for rank 0"),
        ("any_tag_beside", 3, "deadlock: ranks 0, 1 wait for each other for ever",
         r"rank 1 waits for rank 0 in MPI_Recv\(source 0, tag MPI_ANY_TAG"),
    ],
    "collectives": [("any_of_subgroup", 4, "deadlock: ranks 0, 1 wait for each other for ever",
                     r"rank 0 waits for rank 1 in MPI_Recv\(source MPI_ANY_SOURCE")],
    "files": [
        ("file_slow", 2, "no verdict: ",
         r'rank 1 \(pid \d+\): blocked for .* in MPI_File_write_at\(".*hangs-\d+", 4 bytes from byte 8192 on\)'),
        ("file_slow_request", 2, "no verdict: ",
         r'rank 0 \(pid \d+\): blocked for .* in MPI_Wait\(".*hangs-\d+", 4 bytes from byte 4096 on\)' + AT),
    ],
    "threads": [
        ("many_threads", 2, "no verdict: ", r"ranks 0, 1: 4 more threads wait in MPI"),
        ("idle_thread", 2, "no verdict: ranks 0, 1 have threads that sleep outside of MPI", r"blocked for .* in MPI_Recv"),
    ],
    "no_deadlock": [
        ("computes", 2, "no deadlock: rank 0 runs", r"rank 0 \(pid \d+\): running \(not blocked in MPI\)"),
        ("polls", 2, "no deadlock: rank 0 runs", r"rank 0 \(pid \d+\): polls with MPI_Test\(source 1, tag 1, MPI_COMM_WORLD\)" + AT + ", in vain .* times so far"),
        ("polls_for_any", 2, "no deadlock: rank 0 runs",
         r"rank 0 \(pid \d+\): polls with MPI_Testany\(.*source 1, tag 1, MPI_COMM_WORLD; .*source 1, tag 2, MPI_COMM_WORLD\)" + AT),
        # It may have slept from one look to the other.
        ("polls_now_and_then", 2, "no ", r"(?s)rank 0 \(pid \d+\): polls with MPI_Iprobe\(source 1, tag 1, MPI_COMM_WORLD\)"
         + AT + ".*hint: rank 0: from rank 1 lies tag 2; tag 1 is awaited.*no (deadlock: rank 0 runs|verdict: rank 0 has threads that sleep)"),
    ],
}
# Programs that take their time and come to their end.
HEALTHY = {"no_deadlock": [("late", 1), ("late", 3), ("late_thread", 2), ("late_generalized", 2)]}


def run(name, ranks, *options, **environment):
    return subprocess.run([MPIEXEC, *options, "-n", str(ranks), HANGS, name], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=WATCHDOG, env={**os.environ, **environment})


class Verdicts(unittest.TestCase):
    group = ""

    def check(self, job, first, other):
        lines = job.stdout.splitlines()
        self.assertTrue(any(line.startswith("mpiexec: " + first) for line in lines), job.stdout)
        self.assertRegex(job.stdout, other)

    def test_a_job_that_hangs_is_judged_and_ended(self):
        for name, ranks, first, other in STUCK.get(self.group, []):
            with self.subTest(program=name, ranks=ranks):
                job = run(name, ranks, HEDDLE_DEADLOCK="abort")
                self.assertEqual(job.returncode, 1, job.stdout)
                self.check(job, first, other)

    def test_a_job_that_waits_for_a_rank_that_has_ended_is_ended_unasked(self):
        for name, ranks, first, other in STUCK.get(self.group, []):
            if "which ended" in first:
                with self.subTest(program=name, ranks=ranks):
                    job = run(name, ranks, HEDDLE_DEADLOCK="")
                    self.assertEqual(job.returncode, 1, job.stdout)
                    self.check(job, first, other)

    def test_a_job_that_is_asked_is_judged(self):
        for name, ranks, first, other in ASKED.get(self.group, []):
            with self.subTest(program=name, ranks=ranks):
                job = run(name, ranks, "--timeout", "2", HEDDLE_DEADLOCK="abort")
                self.assertEqual(job.returncode, 124, job.stdout)
                self.check(job, first, other)

    def test_a_job_that_is_late_is_left_alone(self):
        for name, ranks in HEALTHY.get(self.group, []):
            with self.subTest(program=name, ranks=ranks):
                job = run(name, ranks, HEDDLE_DEADLOCK="abort")
                self.assertEqual((job.returncode, job.stdout), (0, ""))


class Where(unittest.TestCase):
    def setUp(self):
        self.job = subprocess.Popen([MPIEXEC, "-n", "3", HANGS, "mismatch"], stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True)

    def tearDown(self):
        self.job.terminate()
        self.job.communicate(timeout=WATCHDOG)

    def where(self, *words):
        return subprocess.run([HEDDLE, "where", *words], capture_output=True, text=True, timeout=WATCHDOG)

    def until(self, *words, has):
        """Asks until the answer has the text, and returns the answer."""
        end = time.monotonic() + WATCHDOG
        while time.monotonic() < end:
            answer = self.where(*words)
            if has in answer.stdout:
                return answer
        self.fail(f"never said: {has}; but {answer.stdout}")

    def test_tells_of_the_job_of_an_mpiexec_or_of_a_rank(self):
        said = self.until(str(self.job.pid), has="collective mismatch").stdout
        self.assertIn(f"3 ranks, mpiexec {self.job.pid}:\n", said)
        self.assertRegex(said, r"  rank 1 \(pid \d+\): blocked for \d+\.\d s in MPI_Allreduce #2 on MPI_COMM_WORLD at hangs.c:\d+\n"
                               r"  ranks 0, 2: blocked for [^\n]* in MPI_Barrier #2 on MPI_COMM_WORLD at hangs.c:\d+\n"
                               r"  collective mismatch: call #2 on MPI_COMM_WORLD is MPI_Allreduce on rank 1, but ")
        looked = json.loads(self.where("--json", str(self.job.pid)).stdout)
        self.assertEqual(looked[0]["verdict"]["kind"], "collective mismatch")
        self.assertEqual(looked[0]["verdict"]["ranks"], [0, 1, 2])
        ranks = looked[0]["ranks"]
        self.assertEqual([rank["rank"] for rank in ranks], [0, 1, 2])
        self.assertEqual(ranks[1]["blocked"][0]["call"], "MPI_Allreduce")
        self.assertEqual(ranks[1]["blocked"][0]["listed"][0]["number"], 2)
        self.assertIn("collective mismatch", self.where(str(ranks[2]["pid"])).stdout)
        self.assertIn("collective mismatch", self.where().stdout)

    def test_refuses_what_is_no_job(self):
        self.until(str(self.job.pid), has="3 ranks")
        nothing = self.where("1")
        if "3 ranks" not in nothing.stdout:  # process 1 may have started the test
            self.assertEqual(nothing.returncode, 1)
            self.assertIn("process 1 is no rank of a job on this machine", nothing.stderr)
        sleeper = subprocess.Popen(["sleep", "100"])
        try:
            self.assertEqual(self.where(str(sleeper.pid)).returncode, 1)
        finally:
            sleeper.kill()
            sleeper.wait()

    def test_the_job_itself_has_told_its_verdict_and_goes_on(self):
        said = [self.job.stderr.readline() for _ in range(3)]
        self.assertIn("mpiexec: collective mismatch: call #2 on MPI_COMM_WORLD is MPI_Allreduce on rank 1", said[2])
        self.assertIsNone(self.job.poll())
        self.job.send_signal(signal.SIGQUIT)
        while "collective mismatch" not in self.job.stderr.readline():
            pass


if __name__ == "__main__":
    asked = sys.argv.pop(1)
    if asked not in {"where", *STUCK, *ASKED, *HEALTHY}:
        sys.exit(f"test_hangs.py: there is no group {asked}")
    Verdicts.group = asked
    unittest.main(verbosity=2, defaultTest="Where" if asked == "where" else "Verdicts")

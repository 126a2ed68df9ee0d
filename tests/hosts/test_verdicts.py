# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that hang on two hosts: reports and verdicts are those of one host. They say so if nothing can be known."""

import os
import pathlib
import re
import sys
import unittest

import hosts

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "hangs"))
import test_hangs  # noqa: E402

MPIEXEC, HANGS = os.environ["MPIEXEC"], os.environ["HANGS"]
LAUNCHERS = ("mpiexec.hydra", "prterun")
# Verdicts that differ on several hosts, because the program takes another path there.
OTHER_CIRCLE = {"two_communicators": "deadlock: ranks 0, 2 wait for each other"}
OTHER_WORDS = {
    "window_lock": r"in MPI_Win_lock\(target 0, cells, ",
    "two_communicators": r"rank 0 waits for rank 2 in MPI_Barrier #1 on 'halo' \(communicator \d+\)",
}
# A shell lets its background processes ignore SIGQUIT. This program ends that, and becomes another one.
HEEDS_QUIT = """python3 -c 'import os, signal, sys
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' """


def start(via, ranks, *words):
    return f"{HEEDS_QUIT}{MPIEXEC} --via {hosts.PLACE}/{via} --host node1,node2 --map-by node {' '.join(words)} -n {ranks} {HANGS}"


def run(via, ranks, name, *words, before="", after="", **variables):
    return hosts.run(2, f"{hosts.START_BY_AGENT}\n{before}\n{start(via, ranks, *words)} {name} {after}", **variables)


class Verdicts(unittest.TestCase):
    def check_stuck(self, via, group):
        for name, ranks, first, other in test_hangs.STUCK[group]:
            if ranks == 1:
                continue
            with self.subTest(program=name, ranks=ranks, via=via):
                job = run(via, ranks, name, HEDDLE_DEADLOCK="abort")
                self.assertNotEqual(job.code, 0, job)
                start_of_verdict = "mpiexec: " + OTHER_CIRCLE.get(name, first)
                self.assertTrue(any(line.startswith(start_of_verdict) for line in job.err.splitlines()), job)
                self.assertRegex(job.err, OTHER_WORDS.get(name, other))

    def test_messages(self):
        self.check_stuck("mpiexec.hydra", "messages")

    def test_collectives(self):
        self.check_stuck("mpiexec.hydra", "collectives")

    def test_windows(self):
        self.check_stuck("mpiexec.hydra", "windows")

    def test_threads(self):
        for via in LAUNCHERS:
            self.check_stuck(via, "threads")

    def test_a_job_that_is_late_is_left_alone(self):
        for via in LAUNCHERS:
            for name, ranks in (("late", 3), ("late_thread", 2)):
                job = run(via, ranks, name, HEDDLE_DEADLOCK="abort")
                self.assertEqual((job.code, job.out), (0, ""), job)
                self.assertNotRegex(job.err, "deadlock|wait|blocked")

    def test_a_report_on_all_ranks_when_the_time_is_over(self):
        job = run("mpiexec.hydra", 4, "computes", "--timeout", "4")
        self.assertEqual(job.code, 124, job)
        self.assertRegex(job.err, r"mpiexec: rank 0 \(pid \d+ on node1\): running \(not blocked in MPI\)")
        self.assertRegex(job.err, r"mpiexec: ranks 1-3: blocked for [^\n]* in MPI_Recv\(source 0, tag 1, MPI_COMM_WORLD\) at hangs.c:\d+")
        self.assertIn("mpiexec: no deadlock: rank 0 runs", job.err)

    def test_signals(self):
        """SIGQUIT reports where the ranks are, and the job goes on. SIGTERM reports once more and ends it."""
        # SIGTERM reports waits of a second and more.
        for via in LAUNCHERS:
            job = run(via, 3, "recv_recv", after=r"""2>>/tmp/said &
                until grep -q 'deadlock: ranks 0-2 wait' /tmp/said; do sleep 0.1; done; : >/tmp/said
                until grep -q 'blocked for [1-9]' /tmp/said; do kill -QUIT $! || exit 9; sleep 0.3; done
                : >/tmp/said; kill -TERM $!; wait $!; echo ended $?; cat /tmp/said""", HEDDLE_DEADLOCK="")
            self.assertIn("ended 143", job.out, job)
            self.assertIn("mpiexec: SIGTERM (terminated): ending the job", job.out)
            self.assertRegex(job.out, r"mpiexec: ranks 0-2: blocked for [^\n]* in MPI_Recv\(source 1, 2, 0, tag 1, MPI_COMM_WORLD\)")
            self.assertIn("mpiexec: deadlock: ranks 0-2 wait for each other for ever", job.out)
            self.assertNotIn("left behind", job.err, job)

    def test_nothing_is_said_of_a_host_that_is_not_heard(self):
        job = run("mpiexec.hydra", 2, "recv_recv", before="export HEDDLE_NETWORK_SILENCE=0", after="""2>>/tmp/said &
            until grep -q deadlock: /tmp/said; do sleep 0.1; done
            $HOSTS_AGENT --cut node2; : >/tmp/said; kill -QUIT $!
            until grep -q verdict /tmp/said; do sleep 0.1; done; cat /tmp/said; $HOSTS_AGENT --mend node2; kill $!; wait $!""")
        self.assertIn("mpiexec: no verdict: nothing is heard of rank 1", job.out, job)
        self.assertRegex(job.out, "mpiexec: rank 1: not heard of")
        self.assertNotRegex(job.out, "mpiexec: deadlock")


if __name__ == "__main__":
    hosts.main()

# SPDX-License-Identifier: BSD-3-Clause
"""`heddle where` and `heddle top` for a job on two hosts: on either host, they tell of all ranks."""

import json
import os
import re
import unittest

import hosts

MPIEXEC, HANGS, HEDDLE = os.environ["MPIEXEC"], os.environ["HANGS"], os.environ["HEDDLE"]
# Ranks 1 and 2 have waited for rank 0 for nearly all of the time. A thread that had no core in that time says nothing.
WAITERS = ".*".join(fr'"rank":{rank}[^}}]*"in_mpi":\(1\.\|0\.9\)[^}}]*"call":"MPI_Recv","waits_for":0' for rank in (1, 2))
LAUNCHERS = ("mpiexec.hydra", "prterun")


def run(via, ranks, program, script):
    """Runs the script on node1 beside a job; $job is the process of its mpiexec."""
    return hosts.run(2, f"""{hosts.START_BY_AGENT}
        export HEDDLE_NETWORK_SILENCE=0
        {MPIEXEC} --via {hosts.PLACE}/{via} --host node1,node2 --map-by node -n {ranks} {HANGS} {program} 2>/tmp/said & job=$!
        {script}
        kill -TERM $job; wait $job""")


def until(command, has):
    """Returns a script that calls the command until it prints `has`, and then shows its output and errors."""
    return f"until {command} >/tmp/shown 2>/tmp/errors && grep -q '{has}' /tmp/shown; do sleep 0.1; done; cat /tmp/shown /tmp/errors\n"


class Where(unittest.TestCase):
    def check_report(self, text, job):
        self.assertRegex(text, r"3 ranks on 2 hosts, mpiexec \d+ on node1:\n", job)
        self.assertRegex(text, r"  rank 1 \(pid \d+ on node2\): blocked for [^\n]* in MPI_Allreduce #2 on MPI_COMM_WORLD at hangs.c:\d+\n"
                               r"  ranks 0, 2: blocked for [^\n]* in MPI_Barrier #2 on MPI_COMM_WORLD at hangs.c:\d+\n"
                               r"  collective mismatch: call #2 on MPI_COMM_WORLD is MPI_Allreduce on rank 1, but ", job)
        self.assertNotIn("heddle where:", text, job)
        self.assertEqual(text.count("ranks on 2 hosts"), 1, job)
        self.assertNotIn("on this machine", text, job)

    def test_tells_of_all_ranks_on_both_hosts(self):
        for via in LAUNCHERS:
            job = run(via, 3, "mismatch", until(f"{HEDDLE} where", "collective mismatch") + "echo :next:\n" +
                      until(f"$HOSTS_AGENT node2 {HEDDLE} where", "collective mismatch"))
            first, second = job.out.split(":next:\n")
            self.check_report(first, job)
            self.check_report(second, job)
            self.assertEqual(job.err, "", job)

    def test_takes_the_number_of_mpiexec_and_of_a_rank(self):
        job = run("mpiexec.hydra", 3, "mismatch", until(f"{HEDDLE} where --json $job", '"collective mismatch"') + f"""
            rank=$(sed 's/.*"rank":0,"pid":\\([0-9]*\\),.*/\\1/' /tmp/shown); {HEDDLE} where --json $rank
            {HEDDLE} where --json $$ >/dev/null && echo of the shell
            sleep 100 & {HEDDLE} where $! >/dev/null 2>&1 || echo refused; kill $!""")
        first, second, *said = job.out.splitlines()
        self.assertEqual(said, ["of the shell", "refused"], job)
        for line in (first, second):
            (looked,) = json.loads(line)
            self.assertEqual(looked["verdict"]["kind"], "collective mismatch", job)
            self.assertEqual(looked["verdict"]["ranks"], [0, 1, 2])
            self.assertEqual([(rank["rank"], rank["host"]) for rank in looked["ranks"]], [(0, "node1"), (1, "node2"), (2, "node1")])
            self.assertEqual(looked["ranks"][1]["blocked"][0]["call"], "MPI_Allreduce")
            self.assertRegex(looked["ranks"][1]["blocked"][0]["at"], r"^hangs\.c:\d+$")

    def test_writes_nothing_beside_the_job(self):
        """mpiexec itself prints its verdict once, however often users ask from outside."""
        job = run("mpiexec.hydra", 3, "mismatch", "until grep -q 'rank 1 waits for rank 0' /tmp/said; do sleep 0.1; done\n" +
                  3 * until(f"{HEDDLE} where", "collective mismatch") + "echo :next:; cat /tmp/said")
        self.assertEqual(job.out.split(":next:\n")[1].count("collective mismatch"), 1, job)

    def test_a_host_that_is_cut_off_sees_its_own_ranks(self):
        job = run("mpiexec.hydra", 2, "computes", until(f"{HEDDLE} where", "ranks on 2 hosts") + f"""
            $HOSTS_AGENT --cut node2
            echo :cut:; {HEDDLE} where; echo :there:; $HOSTS_AGENT node2 {HEDDLE} where 2>&1; $HOSTS_AGENT --mend node2""")
        here, there = job.out.split(":cut:\n")[1].split(":there:\n")
        self.assertRegex(here, r"rank 1: not heard of", job)
        self.assertIn("no verdict: nothing is heard of rank 1", here, job)
        self.assertIn("heddle where: mpiexec of a job on several hosts does not answer", there, job)
        self.assertRegex(there, r"1 rank of a job, those on this machine[^\n]*:\n  rank 1 \(pid \d+\): ", job)

    def test_sleeps_while_mpiexec_has_no_descriptors(self):
        """A command that asks meanwhile gets its answer when there are descriptors again."""
        job = run("mpiexec.hydra", 2, "computes", until(f"{HEDDLE} where", "ranks on 2 hosts") + f"""
            keeper=$(pgrep -xo heddle-keeper)
            ticks() {{ awk '{{ print $14 + $15 }}' /proc/$keeper/stat; }}
            limit=$(prlimit -p $keeper --nofile --noheadings --output SOFT)
            free=0; while [ -e /proc/$keeper/fd/$free ]; do free=$((free + 1)); done
            prlimit -p $keeper --nofile=$free:
            {HEDDLE} where >/dev/null 2>&1 & asker=$!
            before=$(ticks); sleep 1; echo :ticks: $(($(ticks) - before))
            prlimit -p $keeper --nofile=$limit:; wait $asker
            """ + until(f"{HEDDLE} where", "ranks on 2 hosts"))
        self.assertLess(int(job.out.split(":ticks: ")[1].split()[0]), 20, job)


class Top(unittest.TestCase):
    def test_shows_all_ranks_on_both_hosts(self):
        for via in LAUNCHERS:
            top = f"{HEDDLE} top --once --json --seconds 0.3"
            job = run(via, 3, "computes", until(top, WAITERS) + "echo :next:\n" + until(f"$HOSTS_AGENT node2 {top}", WAITERS) +
                      f"echo :next:; {HEDDLE} top --once --seconds 0.1")
            first, second, table = job.out.split(":next:\n")
            for text in (first, second):
                (shown,) = json.loads(text)
                self.assertEqual((shown["host"], shown["whole"]), ("node1", True), job)
                threads = shown["threads"]
                self.assertEqual([(row["rank"], row["host"]) for row in threads], [(0, "node1"), (1, "node2"), (2, "node1")], job)
                for row in threads:
                    self.assertGreater(row["memory"], 1 << 20, job)
            self.assertRegex(table, r"\A3 ranks on 2 hosts, mpiexec \d+ on node1\n RANK HOST +PID ", job)
            self.assertRegex(table, r"\n    1 node2 +\d+ +\d+ S [^\n]* MPI_Recv for rank 0, \d+\.\d s\n", job)

    def test_a_host_that_is_cut_off_is_not_heard_of(self):
        job = run("mpiexec.hydra", 2, "computes", until(f"{HEDDLE} top --once --seconds 0.1", "ranks on 2 hosts") + f"""
            $HOSTS_AGENT --cut node2; echo :cut:; {HEDDLE} top --once --seconds 0.1; $HOSTS_AGENT --mend node2""")
        self.assertTrue(re.search(r"\n    1 +0 +0 [^\n]*not heard of\n", job.out.split(":cut:\n")[1]), job)


if __name__ == "__main__":
    hosts.main()

# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec --host: jobs on several hosts are those of one, whichever launcher starts their ranks."""

import os
import re
import signal
import unittest

import hosts

MPIEXEC = os.environ["MPIEXEC"]
ENDS = os.environ["ENDS"]
CONFORMANCE = os.environ["CONFORMANCE"]
MESSAGES = os.environ["MESSAGES"]
LAUNCHERS = ("mpiexec.hydra", "prterun")


def run(via, words, count=2, before="", after=""):
    """Runs mpiexec with `words` on so many hosts, two ranks on each; `before` and `after` it in the shell."""
    start = f"{MPIEXEC} --via {hosts.PLACE}/{via} --host {','.join(hosts.names(count))} -n {2 * count}"
    # If all ranks end at once, Hydra writes to proxies that have gone, and sometimes dies of that itself.
    for _ in range(5):
        ended = hosts.run(count, f"{hosts.START_BY_AGENT}\n{before} {start} {words} {after}")
        if ended.code != 128 + signal.SIGPIPE:
            break
    return ended


class Mpiexec(unittest.TestCase):
    def assert_nothing_left(self, ended):
        self.assertNotIn("left behind", ended.err, ended)

    def test_the_contract_and_the_node_map(self):
        for via in LAUNCHERS:
            for count in (2, 4):
                ended = run(via, f"{CONFORMANCE} {2 * count} {count}", count)
                self.assertEqual(ended.code, 0, ended)
                self.assertEqual(ended.out.count("conforms"), 2 * count)

    def test_ranks_are_next_to_each_other_or_dealt_out(self):
        expected = {"": ["[0] node1", "[1] node1", "[2] node2", "[3] node2"],
                    "--map-by node": ["[0] node1", "[1] node2", "[2] node1", "[3] node2"]}
        for via in LAUNCHERS:
            for words, lines in expected.items():
                ended = run(via, f"{words} -l hostname")
                self.assertEqual((ended.code, ended.lines()), (0, lines), ended)

    def test_several_programs(self):
        for via in LAUNCHERS:
            ended = run(via, "-l echo a : -n 2 -x B=b sh -c 'echo $B'")
            self.assertEqual((ended.code, ended.lines()), (0, [f"[{rank}] {'aaaabb'[rank]}" for rank in range(6)]), ended)

    def test_environment_and_directory(self):
        for via in LAUNCHERS:
            ended = run(via, """-genv A 'a  b' -wdir /usr sh -c 'echo "$A-$MINE-$(pwd)"'""", before="MINE=m")
            self.assertEqual((ended.code, ended.lines()), (0, ["a  b-m-/usr"] * 4), ended)
            ended = run(via, "-genvnone -genvlist PATH sh -c 'echo -$MINE-'", before="MINE=m")
            self.assertEqual((ended.code, ended.lines()), (0, ["--"] * 4), ended)

    def test_exit_codes(self):
        for via in LAUNCHERS:
            ended = run(via, "sh -c 'exit 3'")
            self.assertEqual(ended.code, 3, ended)
            self.assertRegex(ended.err, r"mpiexec: rank \d \(pid \d+, sh on node[12]\) ended with exit code 3")
            ended = run(via, "no_such_program")
            self.assertEqual(ended.code, 127, ended)
            self.assertIn("mpiexec: cannot run 'no_such_program': there is no such program in PATH", ended.err)

    def test_the_death_of_a_rank(self):
        for via in LAUNCHERS:
            ended = run(via, f"{ENDS} die")
            self.assertEqual(ended.code, 137, ended)
            pid = re.search(r"rank 3 is (\d+)", ended.out)[1]
            self.assertIn(f"mpiexec: rank 3 (pid {pid}, {ENDS} on node2) was ended by signal 9", ended.err)
            self.assert_nothing_left(ended)

    def test_an_abort(self):
        for via in LAUNCHERS:
            ended = run(via, f"{ENDS} abort 7")
            self.assertEqual(ended.code, 7, ended)
            self.assertIn("heddle: the last rank gives up", ended.err)
            self.assert_nothing_left(ended)

    def test_a_time_limit(self):
        for via in LAUNCHERS:
            ended = run(via, f"--timeout 2 {ENDS} wait")
            self.assertEqual(ended.code, 124, ended)
            self.assertIn("mpiexec: the job has run for 2 s (--timeout) and is ended", ended.err)
            self.assert_nothing_left(ended)

    def test_a_time_limit_tells_where_each_rank_is(self):
        for via in LAUNCHERS:
            for seconds in (4, 30):  # on a busy machine the launcher may need the time for itself
                ended = run(via, f"--timeout {seconds} {MESSAGES} stuck")
                if "ranks 1-3: blocked" in ended.err:
                    break
            self.assertEqual(ended.code, 124, ended)
            self.assertRegex(ended.err, r"mpiexec: rank 0 \(pid \d+ on node1\): sleeps \(not blocked in MPI\)")
            self.assertRegex(ended.err, r"mpiexec: ranks 1-3: blocked for [^\n]* s in MPI_Recv\(source 0, tag 7, MPI_COMM_WORLD\)")
            self.assertIn(f"mpiexec: the job has run for {seconds} s (--timeout) and is ended; where each rank is:\n", ended.err)
            self.assert_nothing_left(ended)

    def test_standard_input(self):
        ended = run("mpiexec.hydra", "cat", before="echo hello |")
        self.assertEqual((ended.code, ended.out), (0, "hello\n"), ended)
        for via in LAUNCHERS:
            ended = run(via, "-stdin none -l cat", before="echo hello |")
            self.assertEqual((ended.code, ended.out), (0, ""), ended)

    def test_signals(self):
        """mpiexec ends by a signal, and all ranks end if it is killed."""
        for via in LAUNCHERS:
            for name, code in (("TERM", 143), ("KILL", 137)):
                ended = run(via, f"{ENDS} wait", before="mkfifo /tmp/said;", after=f""">/tmp/said &
                    {{ for rank in 0 1 2 3; do read line; done; kill -{name} $!; cat; }} </tmp/said
                    wait $!; echo ended $?""")
                # Hydra sometimes finds that a rank of the other host has ended before Hydra is ended itself, and says so.
                self.assertEqual(hosts.HYDRAS_OWN.sub("", ended.out), f"ended {code}\n", ended)
                self.assert_nothing_left(ended)

    def test_what_a_rank_leaves_behind_is_ended(self):
        for via in LAUNCHERS:
            ended = run(via, "sh -c 'setsid sleep 1000 & exit 0'")
            self.assertEqual(ended.code, 0, ended)
            self.assert_nothing_left(ended)

    def test_a_host_that_cannot_be_reached(self):
        for via in LAUNCHERS:
            ended = hosts.run(1, f"{hosts.START_BY_AGENT}\n{MPIEXEC} --via {hosts.PLACE}/{via} --host node1,node9 -n 2 true")
            self.assertNotEqual(ended.code, 0)
            self.assertNotEqual(ended.err + ended.out, "", "nobody has said why")


if __name__ == "__main__":
    hosts.main()

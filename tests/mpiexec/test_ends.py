# SPDX-License-Identifier: BSD-3-Clause
"""How jobs end: exit codes, ranks that die, MPI_Abort, --timeout and its report."""

import os
import shutil
import signal
import stat
import subprocess
import tempfile
import unittest

from harness import DOUBLE, LaunchTest, main


class ExitCodes(LaunchTest):
    def test_all_in_order(self):
        self.assertEqual(self.run_job("-n", 3, DOUBLE), (0, "", ""))
        self.assertEqual(self.run_job("-n", 3, DOUBLE, "init", "board:initialized", "barrier", "finalize",
                                      "board:finalized"), (0, "", ""))

    def test_code_of_the_failing_rank(self):
        code, _, err = self.run_job("-n", 3, DOUBLE, "1@exit:7", "wait")
        self.assertEqual(code, 7)
        self.assertRegex(err, r"^mpiexec: rank 1 \(pid \d+, .*rank_double\) ended with exit code 7; the job is ended\n$")

    def test_code_after_finalize_leaves_the_others_alone(self):
        code, out, err = self.run_job("-n", 2, DOUBLE, "init", "board:initialized", "board:finalized", "finalize",
                                      "1@exit:5", "0@say:done")
        self.assertEqual((code, out), (5, "done\n"))
        self.assertRegex(err, r"rank 1 .* ended with exit code 5 after MPI_Finalize\n")

    def test_a_rank_without_a_session_may_end_but_not_fail(self):
        closed = ("board:initialized", "board:closed")
        self.assertEqual(self.run_job("-n", 2, DOUBLE, *closed, "1@exit:0", "0@say:done"), (0, "done\n", ""))
        for word, code, how in (("exit:3", 3, "ended with exit code 3"), ("raise:9", 137, "was ended by signal 9, SIGKILL")):
            ended, _, err = self.run_job("-n", 3, DOUBLE, *closed, f"1@{word}", "0@board:initialized", "wait")
            self.assertEqual(ended, code)
            self.assertRegex(err, rf"^mpiexec: rank 1 .* {how}.* after its last session.*; the job is ended\n$")

    def test_signals(self):
        for number, name in ((11, r"SIGSEGV \(segmentation fault\)"), (9, r"SIGKILL \(killed\)"),
                             (6, r"SIGABRT \(aborted\)")):
            code, _, err = self.run_job("-n", 3, DOUBLE, f"2@raise:{number}", "wait")
            self.assertEqual(code, 128 + number)
            self.assertRegex(err, rf"^mpiexec: rank 2 \(pid \d+, .*\) was ended by signal {number}, {name}.*\n$")

    def test_end_without_finalize(self):
        for words in (["board:initialized"], ["init"]):
            code, _, err = self.run_job("-n", 2, DOUBLE, *words, "0@exit:0", "wait")
            self.assertEqual(code, 1)
            self.assertRegex(err, r"rank 0 .* ended without calling MPI_Finalize; the job is ended\n")

    def test_quiet(self):
        self.assertEqual(self.run_job("-q", "-n", 2, DOUBLE, "1@exit:7", "wait"), (7, "", ""))

    def test_a_rank_that_never_comes_to_init(self):
        for words in (["barrier", "wait"], ["wait"]):
            code, _, err = self.run_job("-n", 1, DOUBLE, ":", "-n", 1, DOUBLE, "init", *words)
            self.assertEqual(code, 1)
            self.assertRegex(err, r"rank 0 .* ended without calling MPI_Init, and other ranks wait for it\n")

    def test_a_rank_that_ignores_sigterm_is_killed(self):
        self.assertEqual(self.run_job("-n", 2, DOUBLE, "ignore:15", "1@exit:7", "wait")[0], 7)

    def test_many_ranks(self):
        code, out, err = self.run_job("-n", 64, DOUBLE, "init", "barrier", "say:x", "finalize")
        self.assertEqual((code, out, err), (0, "x\n" * 64, ""))


class Abort(LaunchTest):
    def test_by_the_board(self):
        code, _, err = self.run_job("-n", 2, DOUBLE, "board:initialized", "1@board-abort:42:the grid is too coarse",
                                    "1@exit:1", "wait")
        self.assertEqual(code, 42)
        self.assertRegex(err, r"rank 1 .* ended the job with code 42: the grid is too coarse; the job is ended\n")

    def test_by_pmi(self):
        code, _, err = self.run_job("-n", 2, DOUBLE, "init", "1@abort:9", "wait")
        self.assertEqual(code, 9)
        self.assertRegex(err, r"rank 1 .* called MPI_Abort with code 9; the job is ended\n")

    def test_never_counts_as_success(self):
        for number in (0, 256):
            self.assertEqual(self.run_job("-n", 1, DOUBLE, "init", f"0@abort:{number}")[0], 1)


class Starting(LaunchTest):
    @unittest.skipUnless(shutil.which("cc"), "needs a C compiler")
    def test_a_missing_library_is_explained(self):
        with tempfile.TemporaryDirectory() as folder:
            def compile_c(text, *options):
                subprocess.run(["cc", "-x", "c", "-", *options], input=text.encode(), cwd=folder, check=True)
            compile_c("int f(void) { return 0; }", "-shared", "-fPIC", "-o", "libgone.so")
            compile_c("int f(void); int main(void) { return f(); }", "-L.", "-lgone", "-o", "needs")
            os.remove(os.path.join(folder, "libgone.so"))
            code, _, err = self.run_job("-n", 4, os.path.join(folder, "needs"))
        self.assertEqual(code, 127)
        own = [line for line in err.splitlines() if line.startswith("mpiexec: ")]
        self.assertEqual(len(own), 1)
        self.assertIn("shared library is missing", own[0])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root, to become somebody else")
    def test_no_more_processes(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, stat.S_IRWXU | stat.S_IXOTH | stat.S_IROTH)
            copy = shutil.copy(os.environ["MPIEXEC"], folder)
            double = shutil.copy(DOUBLE, folder)
            for path in (copy, double):
                os.chmod(path, 0o755)
            # The user is the test's own, so that the limit counts only the processes of this test.
            done = subprocess.run(["setpriv", "--reuid", "64123", "--regid", "64123", "--clear-groups",
                                   "prlimit", "--nproc=12", copy, "-n", "40", double, "wait"],
                                  capture_output=True, text=True, timeout=60, cwd="/")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"^mpiexec: cannot start rank \d+ of 40: fork: .*\n$")
        left = subprocess.run(["ps", "-o", "pid=", "-U", "64123"], capture_output=True, text=True).stdout
        self.assertEqual(left, "")


class Timeout(LaunchTest):
    def report(self, *words, ranks=2):
        code, _, err = self.run_job("--timeout", "0.3", "-n", ranks, DOUBLE, *words, "wait")
        self.assertEqual(code, 124)
        return err

    def test_blocked_threads_are_told(self):
        err = self.report("board:initialized", "1@block:MPI_Recv:0:7", "1@block:MPI_Wait:0:8")
        self.assertRegex(err, r"mpiexec: the job has run for 0.3 s")
        self.assertRegex(err, r"mpiexec: rank 0 \(pid \d+\): sleeps \(not blocked in MPI\)\n")
        self.assertRegex(err, r"mpiexec: rank 1 \(pid \d+\): blocked for \d+\.\d s in "
                              r"MPI_Recv\(source 0, tag 7, MPI_COMM_WORLD\)\n")
        self.assertRegex(err, r"mpiexec: rank 1 \(pid \d+\): blocked for \d+\.\d s in MPI_Wait")

    def test_ranks_that_do_the_same_are_told_at_once_and_the_odd_one_first(self):
        err = self.report("board:initialized", "3@block:MPI_Send:self:1", "0@block:MPI_Recv:3:7", "1@block:MPI_Recv:3:7",
                          "2@block:MPI_Recv:3:7", "4@block:MPI_Recv:3:7", ranks=5)
        self.assertRegex(err, r"mpiexec: rank 3 \(pid \d+\): blocked for 3.\d s in MPI_Send\(dest 3, to itself, [^\n]*\n"
                              r"mpiexec: ranks 0-2, 4: blocked for 3.\d s in MPI_Recv\(source 3, tag 7, MPI_COMM_WORLD\)\n")

    def test_a_send_to_itself_gets_a_hint(self):
        err = self.report("board:initialized", "0@block:MPI_Ssend:self:1")
        self.assertRegex(err, r"mpiexec: hint: rank 0 sends to itself")

    def test_who_waits_for_each_other_is_found_without_a_time_limit(self):
        words = ("board:initialized", "0@block:MPI_Recv:1:7", "1@block:MPI_Recv:0:7", "wait")
        code, _, err = self.run_job("-n", 2, DOUBLE, *words, env=dict(os.environ, HEDDLE_DEADLOCK="abort"))
        self.assertEqual(code, 1)
        self.assertIn("mpiexec: deadlock: ranks 0, 1 wait for each other for ever\n", err)
        self.assertRegex(err, r"mpiexec:   rank 0 waits for rank 1 in MPI_Recv\(source 1, tag 7, MPI_COMM_WORLD\)\n")
        self.assertIn("mpiexec: the job cannot go on, and is ended (HEDDLE_DEADLOCK)\n", err)

    def test_a_deadlock_is_told_and_not_ended_or_not_even_told(self):
        words = ("board:initialized", "block:MPI_Recv:0:7", "wait")
        job = self.start("-n", 1, DOUBLE, *words)
        said = [job.process.stderr.readline().decode() for _ in range(2)]
        self.assertIn("deadlock: rank 0 waits for itself for ever", said[1])
        job.signal(signal.SIGTERM)
        self.assertEqual(job.end()[0], 128 + signal.SIGTERM)
        code, _, err = self.run_job("--timeout", "1.5", "-n", 1, DOUBLE, *words,
                                    env=dict(os.environ, HEDDLE_DEADLOCK="off"))
        self.assertEqual(code, 124)
        self.assertTrue(err.startswith("mpiexec: the job has run for 1.5 s"), err)

    def test_a_wrong_wish_for_deadlocks_is_refused(self):
        self.assert_refused(2, "HEDDLE_DEADLOCK=perhaps: report, abort and off are possible", "-n", 1, DOUBLE,
                            env=dict(os.environ, HEDDLE_DEADLOCK="perhaps"))

    def test_other_places(self):
        err = self.report("0@init", "0@barrier", "1@board:finalized")
        self.assertRegex(err, r"rank 0 .* waits for the other ranks in MPI_Init")
        self.assertRegex(err, r"rank 1 .* sleeps \(not blocked in MPI\), after MPI_Finalize")
        err = self.report("0@exit:0")
        self.assertRegex(err, r"rank 0 .* ended with exit code 0")
        self.assertRegex(err, r"rank 1 .* sleeps \(not blocked in MPI\), before MPI_Init")

    def test_the_variable_of_hydra(self):
        code, _, err = self.run_job("-n", 1, DOUBLE, "wait", env=dict(os.environ, MPIEXEC_TIMEOUT="0.3"))
        self.assertEqual(code, 124)
        self.assertIn("the job has run for 0.3 s", err)
        for value in ("", "0", "-1"):
            self.assertEqual(self.run_job("-n", 1, DOUBLE, env=dict(os.environ, MPIEXEC_TIMEOUT=value)), (0, "", ""))
        self.assertEqual(self.run_job("--timeout", "50", "-n", 1, "sh", "-c", "cat | true",
                                      env=dict(os.environ, MPIEXEC_TIMEOUT="0.0001")), (0, "", ""))
        self.assert_refused(2, "MPIEXEC_TIMEOUT: 'soon' is not a number of seconds", "-n", 1, "true",
                            env=dict(os.environ, MPIEXEC_TIMEOUT="soon"))

    def test_no_report_when_in_time(self):
        self.assertEqual(self.run_job("--timeout", "50", "-n", 2, DOUBLE), (0, "", ""))


if __name__ == "__main__":
    main()

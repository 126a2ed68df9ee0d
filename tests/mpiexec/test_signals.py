# SPDX-License-Identifier: BSD-3-Clause
"""Signals to mpiexec, from a program and from a terminal."""

import fcntl
import os
import pty
import re
import signal
import termios
import unittest

from harness import DOUBLE, LaunchTest, MPIEXEC, main, marked, read_proc, state_of, wait_until


class FromPrograms(LaunchTest):
    def test_requests_to_end_reach_the_ranks(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            job = self.start("-n", 2, DOUBLE, f"until:{int(number)}")
            self.assertEqual(job.lines(2), ["ready"] * 2)
            job.signal(number)
            code, out, err = job.end()
            self.assertEqual((code, out), (128 + number, f"got signal {int(number)}\n" * 2))
            self.assertRegex(err, r"^mpiexec: SIG[A-Z]+ \(.*\): ending the job; once more kills it at once\n$")

    def test_a_request_to_end_a_job_that_hangs_is_answered_with_where_its_ranks_are(self):
        job = self.start("-n", 2, DOUBLE, "board:initialized", "1@block:MPI_Recv:0:7", "say:ready", "wait")
        job.lines(2)
        job.signal(signal.SIGINT)
        code, _, err = job.end()
        self.assertEqual(code, 130)
        self.assertRegex(err, r"ending the job; once more kills it at once\n"
                              r"mpiexec: rank 0 [^\n]*: sleeps \(not blocked in MPI\)\n"
                              r"mpiexec: rank 1 [^\n]*: blocked for \d+\.\d s in MPI_Recv\(source 0, tag 7, MPI_COMM_WORLD\)\n")

    def test_sigquit_tells_where_the_ranks_are_and_the_job_goes_on(self):
        job = self.start("-n", 2, DOUBLE, "board:initialized", "1@block:MPI_Recv:0:7",
                         f"until:{int(signal.SIGUSR1)}", "board:finalized")
        self.assertEqual(job.lines(2), ["ready"] * 2)
        job.signal(signal.SIGQUIT)
        said = [job.process.stderr.readline().decode() for _ in range(3)]
        self.assertRegex(said[0], r"^mpiexec: rank 0 .* sleeps \(not blocked in MPI\)\n$")
        self.assertRegex(said[1], r"^mpiexec: rank 1 .* blocked for \d+\.\d s in MPI_Recv")
        self.assertRegex(said[2], r"^mpiexec: no verdict: ")
        job.signal(signal.SIGUSR1)
        self.assertEqual(job.end(), (0, f"got signal {int(signal.SIGUSR1)}\n" * 2, ""))

    def test_deaf_ranks_are_killed_after_a_grace(self):
        job = self.start("-n", 2, DOUBLE, "ignore:15", "say:ready", "wait")
        job.lines(2)
        job.signal(signal.SIGTERM)
        self.assertEqual(job.end()[0], 128 + signal.SIGTERM)

    def test_user_signals_are_handed_on(self):
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            job = self.start("-n", 2, DOUBLE, f"until:{int(number)}")
            job.lines(2)
            job.signal(number)
            self.assertEqual(job.end(), (0, f"got signal {int(number)}\n" * 2, ""))

    def test_ignored_signals_stay_ignored(self):
        job = self.start("-n", 1, DOUBLE, "say:ready", "until:10",
                         preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        job.lines(2)
        job.signal(signal.SIGHUP)
        job.signal(signal.SIGUSR1)
        self.assertEqual(job.end()[0], 0)

    def test_what_the_rank_started_hears_too(self):
        job = self.start("-n", 1, "sh", "-c", f"{DOUBLE} until:2; exit 4")
        job.lines(1)
        job.signal(signal.SIGINT)
        code, out, _ = job.end()
        self.assertEqual((code, out), (130, "got signal 2\n"))


class Terminal:
    """A session with a terminal in which a job-control shell of three lines runs mpiexec."""

    def __init__(self, arguments, mark):
        self.leader, self.master = pty.fork()
        if self.leader == 0:
            os.environ["HEDDLE_TEST_MARK"] = mark
            try:
                self.shell(arguments)
            finally:
                os._exit(99)      # an exception must not let two processes run the tests
        self.text = b""
        flags = fcntl.fcntl(self.master, fcntl.F_GETFL)
        fcntl.fcntl(self.master, fcntl.F_SETFL, flags | os.O_NONBLOCK)

    @staticmethod
    def shell(arguments):
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        # Without this, Ctrl-C throws away output that the test has not read yet.
        modes = termios.tcgetattr(0)
        modes[3] |= termios.NOFLSH
        termios.tcsetattr(0, termios.TCSANOW, modes)
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.execv(MPIEXEC, ["mpiexec", *arguments])
        while True:
            _, status = os.waitpid(pid, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                break
            os.tcsetpgrp(0, os.getpid())
            os.write(1, b"<stopped>\n")
            os.read(0, 100)   # a line means: fg
            os.tcsetpgrp(0, pid)
            os.kill(-pid, signal.SIGCONT)
        os.write(1, b"<code %d>\n" % os.waitstatus_to_exitcode(status))
        signal.pause()        # until the test has read everything

    def type(self, text):
        os.write(self.master, text)

    def expect(self, pattern):
        def found():
            try:
                self.text += os.read(self.master, 65536)
            except BlockingIOError:
                pass
            return re.search(pattern, self.text.decode(errors="replace"))
        match = wait_until(found, f"{pattern} on the terminal, which shows {self.text!r}")
        return match

    def close(self):
        os.kill(self.leader, signal.SIGKILL)
        os.waitpid(self.leader, 0)
        os.close(self.master)


class FromATerminal(unittest.TestCase):
    def run_on_terminal(self, *arguments):
        self.mark = os.urandom(8).hex()
        terminal = Terminal([str(a) for a in arguments], self.mark)
        self.addCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in marked(self.mark)])
        self.addCleanup(terminal.close)
        return terminal

    def test_lines_typed_go_to_rank_0(self):
        terminal = self.run_on_terminal("-n", 2, "-l", DOUBLE, "say:ready", "echo")
        terminal.expect(r"(?s)ready.*ready")
        terminal.type(b"hello\n")
        terminal.expect(r"\[0\] hello")
        terminal.type(b"\x04")
        terminal.expect("<code 0>")

    def test_interrupt(self):
        terminal = self.run_on_terminal("-n", 2, DOUBLE, "until:2")
        terminal.expect(r"(?s)ready.*ready")
        terminal.type(b"\x03")
        terminal.expect("(?s)ending the job.*<code 130>")

    def test_a_second_interrupt_kills_at_once(self):
        terminal = self.run_on_terminal("-n", 2, DOUBLE, "ignore:2", "ignore:15", "say:ready", "wait")
        terminal.expect(r"(?s)ready.*ready")
        terminal.type(b"\x03")
        terminal.expect("ending the job")

        def insist():
            terminal.type(b"\x03")
            try:
                terminal.text += os.read(terminal.master, 65536)
            except BlockingIOError:
                pass
            return b"<code 130>" in terminal.text
        wait_until(insist, "the job to be killed")

    def test_stop_and_continue(self):
        terminal = self.run_on_terminal("-n", 2, "-l", DOUBLE, "say:ready", "echo")
        terminal.expect(r"(?s)ready.*ready")
        ranks = wait_until(self.one_rank, "rank 1, which has no input, to end")
        terminal.type(b"\x1a")
        terminal.expect("<stopped>")
        wait_until(lambda: state_of(ranks[0]) == "T", "the rank to stop")
        terminal.type(b"fg\n")
        wait_until(lambda: state_of(ranks[0]) == "S", "the rank to go on")
        terminal.type(b"again\n")
        terminal.expect(r"\[0\] again")
        terminal.type(b"\x04")
        terminal.expect("<code 0>")

    def one_rank(self):
        ranks = [pid for pid in marked(self.mark) if read_proc(pid, "comm") == b"rank_double\n"]
        return ranks if len(ranks) == 1 else None


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""Messages of FAULTS, run by MPIEXEC, when it dies: which rank and thread, of what, and where."""

import os
import platform
import shutil
import signal
import subprocess
import tempfile
import unittest

MPIEXEC, FAULTS = os.environ["MPIEXEC"], os.environ["FAULTS"]
HAS_LINES = shutil.which("addr2line") is not None


def place(function):
    return rf"{function} at faults.c:\d+" if HAS_LINES else rf"({function} )?in test_faults\+0x[0-9a-f]+"


class Faults(unittest.TestCase):
    def run_job(self, how, *variables):
        done = subprocess.run([MPIEXEC, "--timeout", "60", "-n", "2", "env", *variables, FAULTS, how], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
        return done.returncode, done.stderr

    def dies(self, how, number, first, *frames):
        code, said = self.run_job(how)
        self.assertEqual(code, 128 + number, said)
        lines = [line for line in said.splitlines() if line.startswith("heddle: ")]
        self.assertRegex(lines[0], "^heddle: " + first)
        for frame, line in zip(frames, lines[1:]):
            self.assertRegex(line, r"^heddle:   #\d+ " + frame + "$", said)
        self.assertGreater(len(lines), len(frames), said)
        self.assertRegex(said, rf"mpiexec: rank 1 .* was ended by signal {number}, ")

    def test_segv(self):
        self.dies("segv", signal.SIGSEGV, r"rank 1, thread 0: SIGSEGV \(segmentation fault\) at address 0x8$",
                  place("die_of_segv"), place("die") if HAS_LINES else ".*", place("main"))

    @unittest.skipUnless(platform.machine() == "x86_64", "elsewhere a division by zero has a result")
    def test_fpe(self):
        self.dies("fpe", signal.SIGFPE, r"rank 1, thread 0: SIGFPE \(arithmetic exception\) at address 0x",
                  place("die_of_fpe"))

    def test_a_call_of_nothing(self):
        self.dies("call", signal.SIGSEGV, r"rank 1, thread 0: SIGSEGV", "at 0x0, which is no code", place("die_of_call"))

    def test_a_stack_that_is_full(self):
        self.dies("depth", signal.SIGSEGV, r"rank 1, thread 0: SIGSEGV", *[place("die_of_depth")] * 5)

    def test_a_signal_that_was_sent(self):
        code, said = self.run_job("killed")
        self.assertEqual(code, 128 + signal.SIGSEGV)
        self.assertRegex(said, r"heddle: rank 1, thread 0: SIGSEGV \(segmentation fault\), sent by process \d+\n")
        self.assertRegex(said, "heddle:   #[0-9]+ " + place("main") + "\n")
        self.dies("raise", signal.SIGBUS, r"rank 1, thread 0: SIGBUS \(bus error\), sent by process \d+$")

    def test_threads(self):
        self.dies("thread", signal.SIGSEGV, "rank 1, thread 1: SIGSEGV", place("die_of_segv"))
        self.dies("stranger", signal.SIGSEGV, "rank 1, a thread that has not called MPI: SIGSEGV", place("die_of_segv"))

    def test_a_heap_that_is_broken(self):
        self.dies("locked", signal.SIGSEGV, "rank 1, thread 0: SIGSEGV", place("die_of_segv"))

    def test_the_programs_own_handler(self):
        code, said = self.run_job("own")
        self.assertEqual(code, 3, said)
        self.assertIn("the program's own handler\n", said)
        self.assertNotIn("heddle: ", said)

    def test_off(self):
        code, said = self.run_job("segv", "HEDDLE_BACKTRACE=off")
        self.assertEqual(code, 128 + signal.SIGSEGV)
        self.assertNotIn("heddle: ", said)

    def test_without_addr2line(self):
        with tempfile.TemporaryDirectory() as empty:
            code, said = self.run_job("segv", f"PATH={empty}")
        self.assertEqual(code, 128 + signal.SIGSEGV, said)
        self.assertRegex(said, r"heddle:   #0 (die_of_segv )?in test_faults\+0x[0-9a-f]+\n")


if __name__ == "__main__":
    unittest.main()

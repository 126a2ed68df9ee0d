# SPDX-License-Identifier: BSD-3-Clause
"""printing_test.py PREFIX WORK: what MPI programs in C and C++ have printed is there when they hang or die.

Each program is run with standard output in a pipe and in a file. What it printed is waited for while it
hangs, under a watchdog."""

import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PREFIX = pathlib.Path(sys.argv.pop(1)).resolve()
WORK = pathlib.Path(sys.argv.pop(1))
MPIEXEC = PREFIX / "bin" / "mpiexec"
WATCHDOG = 60

ENDS = """
    const char* what = argv[1];
    if (!std::strcmp(what, "wait")) {
        PRINT("a piece");
        MPI_Recv(&rank, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (!std::strcmp(what, "compute")) for (volatile long i = 0;; i = i + 1) {}
    if (!std::strcmp(what, "kill")) raise(SIGKILL);
    if (!std::strcmp(what, "abort")) std::abort();
    MPI_Finalize();
}
"""
HEAD = """
#include <mpi.h>
#include <signal.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
int main(int argc, char** argv) {
    int rank;
"""
BODY = 'PRINT("before\\n");\nMPI_Init(&argc, &argv);\nMPI_Comm_rank(MPI_COMM_WORLD, &rank);\nPRINT("a line\\n");'
PROGRAMS = {
    "printf": "#define PRINT(text) std::printf(text)\n" + HEAD + BODY + ENDS,
    "cout": "#define PRINT(text) std::cout << text\n" + HEAD + BODY + ENDS,
}
PRINTED = "before\na line\n"


def setUpModule():
    WORK.mkdir(parents=True, exist_ok=True)
    for name, text in PROGRAMS.items():
        (WORK / f"{name}.cpp").write_text(text)
        subprocess.run([PREFIX / "bin" / "mpicxx", WORK / f"{name}.cpp", "-o", WORK / name], check=True)


class Printing(unittest.TestCase):
    def run_until(self, name, end, expected, by_signal=None):
        """Runs a program whose output is a file and waits for `expected` there, before any end of ours."""
        with tempfile.NamedTemporaryFile() as file:
            job = subprocess.Popen([MPIEXEC, "-n", "1", WORK / name, end], stdout=file, stderr=subprocess.DEVNULL)
            limit = time.monotonic() + WATCHDOG
            text = ""
            while text != expected and time.monotonic() < limit:
                text = pathlib.Path(file.name).read_text()
                time.sleep(0.01)
            if by_signal:
                job.send_signal(by_signal)
            job.wait(WATCHDOG)
            self.assertEqual(pathlib.Path(file.name).read_text(), expected)

    def test_into_a_file(self):
        for name in PROGRAMS:
            for end, expected, by in (("wait", PRINTED + "a piece", signal.SIGTERM),
                                      ("compute", PRINTED, signal.SIGTERM), ("kill", PRINTED, None),
                                      ("abort", PRINTED, None)):
                with self.subTest(program=name, end=end):
                    self.run_until(name, end, expected, by)

    def test_into_a_pipe(self):
        for name in PROGRAMS:
            for end in ("kill", "abort"):
                with self.subTest(program=name, end=end):
                    result = subprocess.run([MPIEXEC, "-n", "1", WORK / name, end], stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True, check=False)
                    self.assertEqual(result.stdout, PRINTED)
            with self.subTest(program=name, end="compute"):
                job = subprocess.Popen([MPIEXEC, "-n", "1", WORK / name, "compute"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
                self.assertEqual([job.stdout.readline(), job.stdout.readline()], ["before\n", "a line\n"])
                job.send_signal(signal.SIGTERM)
                job.communicate(timeout=WATCHDOG)


if __name__ == "__main__":
    unittest.main(verbosity=2)

# SPDX-License-Identifier: BSD-3-Clause
"""printing_test.py PREFIX WORK: the output of MPI programs in C and C++ is there when they hang or die.

Each program runs with standard output in a pipe and in a file. The test waits for the output while the
program hangs, under a watchdog."""

import os
import pathlib
import re
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


# many WHAT LINES END
MANY = r"""
#include <mpi.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;
static void lines(const char* who, int count) {
    for (int i = 0; i < count; ++i) std::printf("%s %d\n", who, i);
}
static long writes() {  // system calls of this process
    long count = -1;
    char line[80];
    std::FILE* file = std::fopen("/proc/self/io", "r");
    while (file && std::fgets(line, sizeof line, file)) std::sscanf(line, "syscw: %ld", &count);
    if (file) std::fclose(file);
    return count;
}
static void compute(std::chrono::milliseconds time) {
    for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {}
}
int main(int argc, char** argv) {
    const std::string what = argv[1], end = argv[3];
    const int count = std::atoi(argv[2]);
    if (what == "same") std::puts("same");
    MPI_Init(&argc, &argv);
    const long before = writes();
    if (what == "main") lines("main", count);
    if (what == "same") {
        std::puts("same");
        std::fflush(stdout);
        std::puts("same");
    }
    if (what == "threads") {
        std::vector<std::thread> threads;
        for (const char* who : {"a", "b", "c"}) threads.emplace_back([=] { lines(who, count); });
        for (std::thread& thread : threads) thread.join();
    }
    if (what == "slowly")
        for (int i = 0; i < count; ++i) {
            std::printf("main %d\n", i);
            if (i % 7 == 0) std::fputs("foreign\n", stderr);
            if (i % 10 == 0) std::fflush(stdout);
            compute(12ms);  // time enough for whoever looks to find some of it
        }
    if (what == "fork") {
        lines("main", count);
        if (fork() == 0) {
            lines("child", count);
            std::exit(0);
        }
        wait(nullptr);
        lines("again", count);
    }
    if (what == "elsewhere") {
        std::puts("here");
        std::fflush(stdout);
        const int old = dup(1), file = open("/dev/null", O_WRONLY);
        dup2(file, 1);
        std::puts("elsewhere");
        compute(200ms);  // time enough for whoever looks
        std::fflush(stdout);
        dup2(old, 1);
        std::puts("here again");
    }
    if (what == "own") {
        static char buffer[100];
        std::setvbuf(stdout, buffer, _IOLBF, sizeof buffer);
        lines("main", count);
    }
    if (end == "count") std::fprintf(stderr, "%ld\n", writes() - before);
    if (end == "compute") for (volatile long i = 0;; i = i + 1) {}
    if (end == "later") compute(300ms);  // time enough for whoever looks
    if (end == "kill" || end == "later") raise(SIGKILL);
    if (end == "abort") std::abort();
    if (end == "leave") _exit(0);
    MPI_Finalize();
}
"""


def setUpModule():
    WORK.mkdir(parents=True, exist_ok=True)
    for name, text in {**PROGRAMS, "many": MANY}.items():
        (WORK / f"{name}.cpp").write_text(text)
        subprocess.run([PREFIX / "bin" / "mpicxx", "-pthread", WORK / f"{name}.cpp", "-o", WORK / name], check=True)


def numbered(who, count):
    return [f"{who} {i}" for i in range(count)]


class Printing(unittest.TestCase):
    def run_until(self, name, end, expected, by_signal=None):
        """Runs a program whose output is a file, and waits for `expected` there before it sends the signal."""
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


class Many(unittest.TestCase):
    """Lines that the C library keeps in its buffer are there all the same, once each, and cost no more."""

    @staticmethod
    def run_many(*words, ranks=1):
        return subprocess.run([MPIEXEC, "-n", str(ranks), WORK / "many", *map(str, words)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, timeout=WATCHDOG)

    def test_lines_cost_no_system_call_each(self):
        result = self.run_many("main", 100_000, "count")
        self.assertTrue(result.stdout.splitlines() == numbered("main", 100_000))
        self.assertLess(int(result.stderr), 1000)

    def test_however_it_ends(self):
        for end in ("kill", "abort", "leave", "finalize"):
            for count in (1, 300, 20_000):
                with self.subTest(end=end, count=count):
                    lines = self.run_many("main", count, end).stdout.splitlines()
                    self.assertTrue(lines == numbered("main", count), lines[-3:])

    def test_lines_of_several_ranks_stay_whole(self):
        """A rank ends the job while others print; only what the ranks printed last may be a piece of a line."""
        text = self.run_many("main", 20_000, "abort", ranks=3).stdout
        self.assertEqual([line for line in text.splitlines() if not re.fullmatch("m?a?i?n? ?[0-9]*", line)], [])
        self.assertLessEqual(sum(not re.fullmatch("main [0-9]+", line) for line in text.splitlines()), 2)

    def test_lines_that_are_the_same_are_counted(self):
        for end in ("kill", "finalize"):
            self.assertEqual(self.run_many("same", 0, end).stdout, "same\n" * 3)

    def test_threads(self):
        lines = self.run_many("threads", 5000, "kill").stdout.splitlines()
        for who in "abc":
            self.assertTrue([line for line in lines if line.startswith(who)] == numbered(who, 5000))

    def test_what_was_passed_on_early_does_not_come_again(self):
        self.assertEqual(self.run_many("slowly", 60, "finalize").stdout.splitlines(), numbered("main", 60))

    def test_a_forked_child(self):
        for end in ("kill", "finalize"):
            self.assertEqual(self.run_many("fork", 500, end).stdout.splitlines(),
                             numbered("main", 500) + numbered("child", 500) + numbered("again", 500))

    def test_what_goes_elsewhere_is_not_shown(self):
        self.assertEqual(self.run_many("elsewhere", 0, "finalize").stdout, "here\nhere again\n")

    def test_a_script_that_runs_the_same_twice(self):
        script = f'"{WORK}/many" main 5 later; exec "{WORK}/many" main 5 later'
        result = subprocess.run([MPIEXEC, "-n", "1", "sh", "-c", script], stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.DEVNULL, check=False, timeout=WATCHDOG)
        self.assertEqual(result.stdout.splitlines(), numbered("main", 5) * 2)

    def test_a_buffer_of_the_program(self):
        self.assertEqual(self.run_many("own", 500, "kill").stdout.splitlines(), numbered("main", 500))

    def test_killed_in_the_middle_of_writing(self):
        """No process reads until the rank can write no more and is killed; then each line is there once."""
        job = subprocess.Popen([MPIEXEC, "-n", "1", "sh", "-c", f'echo $$; exec "{WORK}/many" main 100000000 finalize'],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        rank = int(job.stdout.readline())
        limit = time.monotonic() + WATCHDOG
        while not self.is_blocked_in_a_write(rank) and time.monotonic() < limit:
            time.sleep(0.01)
        os.kill(rank, signal.SIGKILL)
        lines = job.stdout.read().splitlines()
        job.wait(WATCHDOG)
        job.stdout.close()
        wrong = next((i for i, line in enumerate(lines[:-1]) if line != f"main {i}"), None)
        self.assertIsNone(wrong, wrong is not None and lines[max(wrong - 1, 0):wrong + 3])
        self.assertTrue(f"main {len(lines) - 1}".startswith(lines[-1]))

    @staticmethod
    def is_blocked_in_a_write(pid):
        """Returns whether the process sleeps in one write for a tenth of a second, after more than a pipe holds.
        The latter excludes a write at its start."""
        def looked_at():
            text = pathlib.Path(f"/proc/{pid}/status").read_text()
            written = int(re.search("wchar: ([0-9]+)", pathlib.Path(f"/proc/{pid}/io").read_text()).group(1))
            return "State:\tS" in text and written > 65536, written, re.findall("ctxt_switches:\t([0-9]+)", text)
        before = looked_at()
        time.sleep(0.1)
        return before[0] and looked_at() == before


if __name__ == "__main__":
    unittest.main(verbosity=2)

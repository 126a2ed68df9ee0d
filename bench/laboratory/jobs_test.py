# SPDX-License-Identifier: BSD-3-Clause
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from laboratory import contestants, jobs

# A launcher that ignores SIGTERM, and a rank that left its session.
STUBBORN = """
trap '' TERM
setsid sh -c 'echo $$; exec sleep 100' &
echo $$
wait
"""


def alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


class Jobs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        jobs.adopt_orphans()

    def run_shell(self, script, limit_s=60):
        return jobs.execute(["sh", "-c", script], os.environ, limit_s)

    def test_success(self):
        outcome = self.run_shell("echo out; echo err >&2")
        self.assertEqual(outcome, jobs.Outcome("out\n", "err\n"))

    def test_the_line_that_names_an_mpi_error_is_the_problem(self):
        outcome = self.run_shell("echo a >&2; echo 'MPI_ERR_OTHER: why' >&2; echo b >&2; exit 3")
        self.assertEqual(outcome.problem, "exit 3: MPI_ERR_OTHER: why")
        self.assertEqual(self.run_shell("echo a >&2; echo b >&2; exit 1").problem, "exit 1: b")
        self.assertEqual(self.run_shell("exit 1").problem, "exit 1: (no message)")

    def test_a_time_limit_ends_all_of_it(self):
        patience, jobs.PATIENCE_S = jobs.PATIENCE_S, 0.1
        self.addCleanup(setattr, jobs, "PATIENCE_S", patience)
        outcome = self.run_shell(STUBBORN, limit_s=0.2)
        self.assertEqual(outcome.problem, "no end within 0.2 s")
        self.assertEqual(jobs.children_now(), [])

    def test_time_during_which_this_process_is_stopped_is_none_of_the_commands(self):
        script = ("import sys; from laboratory import jobs\n"
                  "print(jobs.execute(['sh', '-c', sys.argv[1]], __import__('os').environ, 1))")
        command = "kill -STOP $PPID; sleep 1.5; kill -CONT $PPID; echo over"
        environment = {**os.environ, "PYTHONPATH": str(contestants.SOURCES)}
        stopped = subprocess.run([sys.executable, "-c", script, command], env=environment, check=True,
                                 stdout=subprocess.PIPE, text=True)
        self.assertEqual(stopped.stdout.strip(), str(jobs.Outcome("over\n", "")))

    def test_what_a_launcher_leaves_behind_is_ended(self):
        outcome = self.run_shell("setsid sleep 100 >/dev/null 2>&1 & echo $!")
        self.assertFalse(alive(int(outcome.output)))

    def test_an_interrupt_ends_all_of_it(self):
        script = ("import sys; from laboratory import jobs; jobs.adopt_orphans()\n"
                  "jobs.PATIENCE_S = 0.1\n"
                  "jobs.execute(['sh', '-c', sys.argv[1]], __import__('os').environ, 60)")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        pipe = os.path.join(folder.name, "pipe")
        os.mkfifo(pipe)
        told = f"exec 9>{pipe}\n" + STUBBORN.replace("echo", "echo >&9")
        environment = {**os.environ, "PYTHONPATH": str(contestants.SOURCES)}
        with subprocess.Popen([sys.executable, "-c", script, told], env=environment,
                              stderr=subprocess.DEVNULL) as interrupted:
            with open(pipe, encoding="ascii") as lines:
                processes = [int(lines.readline()) for _ in range(2)]
                interrupted.send_signal(signal.SIGINT)
                self.assertEqual(lines.read(), "")  # ends when all processes that hold the pipe have ended
            interrupted.wait()
        self.assertFalse(any(map(alive, processes)))


if __name__ == "__main__":
    unittest.main()

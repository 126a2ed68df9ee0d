# SPDX-License-Identifier: BSD-3-Clause
"""Parts that tests of mpiexec and of children share: running it, waiting for conditions, finding what is left.

Every process of a test carries a mark in its environment, so that the tests find leftovers wherever they
went. Nothing here sleeps for a fixed time to be right; every wait is for a condition, under a watchdog.
"""

import os
import pathlib
import resource
import signal
import subprocess
import time
import unittest
import uuid

MPIEXEC = os.environ["MPIEXEC"]
DOUBLE = os.environ.get("RANK_DOUBLE", "")
WATCHDOG = 60.0
MARK = "HEDDLE_TEST_MARK"


def wait_until(condition, what):
    """Waits until condition() is true; returns its value."""
    end = time.monotonic() + WATCHDOG
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.005)
    raise AssertionError(f"waited in vain: {what}")


def read_proc(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def state_of(pid):
    """Returns the letter of a process state, or '' if there is no such process."""
    text = read_proc(pid, "stat").decode(errors="replace")
    return text.rpartition(")")[2].split()[0] if text else ""


def marked(mark):
    """Returns all living processes with this mark."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and wanted in read_proc(name, "environ").split(b"\0"):
            if state_of(name) != "Z":
                found.append(int(name))
    return found


def our_files():
    """Returns the files of shared memory whose names are the library's own: other programs leave theirs."""
    return {name for name in os.listdir("/dev/shm") if "heddle" in name.lower()}


def need_users(test, *programs):
    """Skips the test if no other user can be had, or another user may not run the programs."""
    if os.geteuid() != 0:
        test.skipTest("only root becomes a user without other processes")
    if not all(os.stat(folder).st_mode & 0o001 for path in programs for folder in pathlib.Path(path).parents):
        test.skipTest("another user may not run the programs")


def become_user(number, most_processes):
    """Returns a function for a child to call before its program begins. The child becomes a user of its own: for a user,
    processes count that have ended and were not waited for."""
    def become():
        os.setgroups([])
        os.setgid(number)
        resource.setrlimit(resource.RLIMIT_NPROC, (most_processes, most_processes))
        os.setuid(number)
    return become


def cores():
    """Returns the number of cores that this process may use."""
    allowed = os.sched_getaffinity(0)
    seen = set()
    for cpu in allowed:
        path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        try:
            with open(path) as file:
                seen.add(file.read())
        except OSError:
            seen.add(cpu)
    return len(seen)


class Job:
    """A running mpiexec, or the program that option `program` names."""

    def __init__(self, arguments, **options):
        self.mark = uuid.uuid4().hex
        environment = dict(options.pop("env", os.environ))
        environment[MARK] = self.mark
        options.setdefault("stdin", subprocess.DEVNULL)
        self.process = subprocess.Popen(
            [options.pop("program", MPIEXEC), *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.pid = self.process.pid

    def lines(self, count):
        """Returns the next `count` lines of standard output."""
        return [self.process.stdout.readline().decode().rstrip("\n") for _ in range(count)]

    def keeper(self):
        """Returns the process id of the keeper."""
        return self.process_called(b"heddle-keeper")

    def watcher(self):
        """Returns the process id of the watcher."""
        return self.process_called(b"heddle-watcher")

    def sentry(self):
        """Returns the process id of the sentry."""
        return self.process_called(b"heddle-sentry")

    def process_called(self, name):
        def find():
            for pid in marked(self.mark):
                if read_proc(pid, "comm").strip() == name:
                    return pid
            return None
        return wait_until(find, f"{name} to appear")

    def signal(self, number):
        os.kill(self.pid, number)

    def end(self, data=None):
        """Waits for the end; returns exit code, standard output, standard error."""
        try:
            out, err = self.process.communicate(data, timeout=WATCHDOG)
        except subprocess.TimeoutExpired:
            for pid in marked(self.mark):
                os.kill(pid, signal.SIGKILL)
            out, err = self.process.communicate()
            raise AssertionError(f"mpiexec did not end; output {out!r}, errors {err!r}") from None
        return self.process.returncode, out.decode(), err.decode()

    def assert_nothing_left(self):
        wait_until(lambda: not marked(self.mark), f"processes to end: {marked(self.mark)}")


class LaunchTest(unittest.TestCase):
    """Starts jobs, and after each test looks for what they left."""

    def setUp(self):
        self.jobs = []

    def tearDown(self):
        for job in self.jobs:
            try:
                job.assert_nothing_left()
            finally:
                for pid in marked(job.mark):
                    os.kill(pid, signal.SIGKILL)
                job.process.stdout.close()
                job.process.stderr.close()

    def start(self, *arguments, **options):
        job = Job([str(a) for a in arguments], **options)
        self.jobs.append(job)
        return job

    def run_job(self, *arguments, data=None, **options):
        """Runs mpiexec to its end; returns exit code, standard output, standard error."""
        if data is not None:
            options["stdin"] = subprocess.PIPE
        job = self.start(*arguments, **options)
        result = job.end(data)
        self.assertEqual(marked(job.mark), [], "left behind when mpiexec had ended")
        return result

    def assert_refused(self, code, text, *arguments, **options):
        """Checks that mpiexec prints one line, with `text` in it, and ends with `code`."""
        result, out, err = self.run_job(*arguments, **options)
        self.assertEqual(result, code, err)
        self.assertEqual(out, "")
        self.assertTrue(err.startswith("mpiexec: "), err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn(text, err)


def main():
    unittest.main(verbosity=2)

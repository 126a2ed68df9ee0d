# SPDX-License-Identifier: BSD-3-Clause
"""Nothing of a job remains, however it ends: no process, whatever it did to get away, and no file."""

import contextlib
import os
import signal
import subprocess

from harness import DOUBLE, LaunchTest, main, marked, wait_until

AWAY = ("child", "daemon", "stubborn-daemon")


class Leftovers(LaunchTest):
    def start_with_children(self, ranks=2):
        """Starts a job of deaf ranks, each with children that tried to get away."""
        job = self.start("-n", ranks, DOUBLE, "ignore:15", *AWAY, "say:ready", "wait")
        seen = [job.process.stdout.readline().split()[0] for _ in range(ranks * (len(AWAY) + 1))]
        self.assertEqual(seen.count(b"child"), ranks * len(AWAY))
        return job

    def test_after_an_end_in_order(self):
        job = self.start("-n", 2, "sh", "-c", "sleep 1000 >/dev/null 2>&1 & setsid sleep 1000 >/dev/null 2>&1 & :")
        self.assertEqual(job.end(), (0, "", ""))
        self.assertEqual(marked(job.mark), [])

    def test_after_an_end_in_order_with_deaf_ones(self):
        job = self.start("-n", 2, DOUBLE, *AWAY)
        self.assertEqual(job.end()[0], 0)
        self.assertEqual(marked(job.mark), [])

    def test_after_a_failure(self):
        code, _, _ = self.run_job("-n", 2, DOUBLE, "ignore:15", *AWAY, "1@exit:3", "wait")
        self.assertEqual(code, 3)

    def test_after_a_request_to_end(self):
        job = self.start_with_children()
        job.signal(signal.SIGTERM)
        self.assertEqual(job.end()[0], 143)
        self.assertEqual(marked(job.mark), [])

    def test_when_mpiexec_is_killed(self):
        job = self.start_with_children()
        job.signal(signal.SIGKILL)
        self.assertEqual(job.end()[0], -signal.SIGKILL)
        job.assert_nothing_left()

    def test_when_mpiexec_is_killed_while_it_starts_ranks(self):
        job = self.start("-n", 200, DOUBLE, "ignore:15", "daemon", "wait")
        job.lines(5)
        job.signal(signal.SIGKILL)
        job.end()
        job.assert_nothing_left()

    def test_when_the_keeper_is_killed(self):
        job = self.start_with_children()
        os.kill(job.keeper(), signal.SIGKILL)
        code, _, err = job.end()
        self.assertEqual(code, 137)
        self.assertIn("the job is killed", err)
        self.assertEqual(marked(job.mark), [])

    @staticmethod
    def processes_of_launcher(job):
        return {"guard": job.pid, "sentry": job.sentry(), "watcher": job.watcher(), "keeper": job.keeper()}

    def test_when_all_but_one_of_the_launchers_processes_are_killed_at_once(self):
        for spared in ("guard", "sentry", "watcher", "keeper"):
            with self.subTest(spared=spared):
                job = self.start_with_children()
                pids = [pid for name, pid in self.processes_of_launcher(job).items() if name != spared]
                # All are stopped first, so that none notices that another is gone.
                for pid in pids:
                    os.kill(pid, signal.SIGSTOP)
                for pid in pids:
                    with contextlib.suppress(ProcessLookupError):  # one dies with its parent
                        os.kill(pid, signal.SIGKILL)
                job.end()
                job.assert_nothing_left()

    def test_when_the_launchers_session_is_killed(self):
        """Kills all processes of the session, ranks too, at once; daemons have sessions of their own. REPEATS: how often."""
        for _ in range(int(os.environ.get("REPEATS", "10"))):
            job = self.start_with_children()
            self.processes_of_launcher(job)  # all of them are there
            session = os.getsid(job.pid)
            there = [pid for pid in marked(job.mark) if self.session_of(pid) == session]
            self.assertGreaterEqual(len(there), 3 + 2)
            for pid in there:
                with contextlib.suppress(ProcessLookupError):  # a rank dies with the keeper
                    os.kill(pid, signal.SIGKILL)
            job.end()
            job.assert_nothing_left()

    @staticmethod
    def session_of(pid):
        try:
            return os.getsid(pid)
        except ProcessLookupError:
            return -1

    def test_children_from_before_are_not_ours(self):
        # A shell with a background job becomes mpiexec. mpiexec neither waits for that child nor kills it.
        job = self.start("-n", 1, "true")
        job.end()

        shell = subprocess.Popen(["sh", "-c", f'sleep 1000 >/dev/null 2>&1 & echo $!; exec {os.environ["MPIEXEC"]} -n 1 '
                                              f'{DOUBLE} say:ready wait'], stdout=subprocess.PIPE, text=True,
                                 stderr=subprocess.DEVNULL)
        other = int(shell.stdout.readline())
        self.assertEqual(shell.stdout.readline(), "ready\n")
        children = wait_until(lambda: [p for p in self.children(shell.pid) if p != other], "the keeper")
        os.kill(children[0], signal.SIGKILL)
        self.assertEqual(shell.wait(timeout=60), 137)
        os.kill(other, signal.SIGKILL)   # raises when it is gone
        shell.stdout.close()

    @staticmethod
    def children(parent):
        found = []
        for name in os.listdir("/proc"):
            try:
                with open(f"/proc/{name}/stat") as file:
                    if file.read().rpartition(")")[2].split()[1] == str(parent):
                        found.append(int(name))
            except (OSError, IndexError):
                pass
        return found

    def test_shared_memory_has_no_name(self):
        job = self.start("-n", 1, "sh", "-c", "readlink /proc/self/fd/${HEDDLE_NODE_FD%%:*}")
        code, out, _ = job.end()
        self.assertEqual((code, out), (0, "/memfd:heddle-node (deleted)\n"))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""Processes of several jobs: a server whose clients are killed, children that are spawned again and again and killed,
names. Every process that a test starts has ended after it, and the next server and the next spawn work.

Environment: MPIEXEC, SERVER (server.c), SPAWN (tests/mpi/spawn.c), SERVICE (examples/service.c), PARENT (parent.c).
ROUNDS: number of kills (default 20).
"""

import os
import pathlib
import random
import re
import signal
import time
import unittest

from harness import marked, wait_until
from jobs import LIMIT, JobsTest, run, start

MPIEXEC, SERVER, SPAWN, SERVICE, PARENT = (
    os.environ[name] for name in ("MPIEXEC", "SERVER", "SPAWN", "SERVICE", "PARENT"))
ROUNDS = int(os.environ.get("ROUNDS", "20"))


class Processes(JobsTest):
    def setUp(self):
        super().setUp()
        self.port_file = pathlib.Path(self.folder.name) / "port"

    def serve(self, clients, *launcher):
        server = start(*launcher, SERVER, "serve", str(self.port_file), str(clients), env=self.environment)
        wait_until(lambda: self.port_file.exists() or server.poll() is not None, "the server has a port")
        return server, self.port_file.read_text()

    def ask(self, port):
        asked = run(SERVER, "ask", port, env=self.environment)
        self.assertEqual((asked.returncode, asked.stdout), (0, "answered\n"), asked.stderr)

    def end(self, server, served):
        out, err = server.communicate(timeout=LIMIT)
        self.assertEqual(server.returncode, 0, out + err)
        self.assertRegex(out, rf"^served {served}, lost \d+$")
        return int(re.search(r"lost (\d+)", out)[1])

    def test_servers_survive_clients_that_are_killed_while_connected(self):
        server, port = self.serve(2)
        self.ask(port)
        client = start(SERVER, "connect", port, env=self.environment)
        self.assertEqual(client.stdout.readline(), "connected\n")
        client.kill()
        client.communicate()
        self.ask(port)
        self.assertEqual(self.end(server, 2), 1)

    def test_servers_survive_clients_that_are_killed_at_any_time(self):
        for launcher in ((), (MPIEXEC, "-n", "1")):
            self.port_file.unlink(missing_ok=True)
            server, port = self.serve(3, *launcher)
            self.ask(port)
            for _ in range(ROUNDS):
                client = start(*launcher, SERVER, "loop", port, env=self.environment)
                time.sleep(random.uniform(0.0, 0.12))
                client.kill()
                client.communicate()
            self.ask(port)
            self.ask(port)
            self.end(server, 3)

    def test_clients_of_a_killed_server_hear_of_it(self):
        server, port = self.serve(9)
        client = start(SERVER, "loop", port, env=self.environment)
        time.sleep(0.3)
        server.kill()
        server.communicate()
        _, err = client.communicate(timeout=LIMIT)
        self.assertNotEqual(client.returncode, 0)
        self.assertRegex(err, "not reached|has ended|lost a process|not open|a process has aborted")
        late = run(SERVER, "ask", port, env=self.environment)
        self.assertIn("MPI_ERR_PORT", late.stderr)

    def test_programs_spawn_under_mpiexec_and_alone(self):
        for launcher in ((), (MPIEXEC, "-n", "1"), (MPIEXEC, "-n", "3")):
            spawned = run(*launcher, SPAWN, env=self.environment)
            self.assertEqual((spawned.returncode, spawned.stdout), (0, "spawn: fine\n"), spawned.stderr)

    def test_killed_parents_take_their_children_along(self):
        for launcher in ((), (MPIEXEC, "-n", "2")):
            for _ in range(ROUNDS // 2):
                parent = start(*launcher, PARENT, "work", env=self.environment)
                time.sleep(random.uniform(0.0, 0.15))
                parent.kill()
                parent.communicate()
            wait_until(lambda: not marked(self.mark), "the children have ended")

    def test_a_killed_child_ends_its_parents(self):
        for launcher in ((), (MPIEXEC, "-n", "2")):
            parent = start(*launcher, PARENT, "work", env=self.environment)
            child = int(parent.stdout.readline().split()[1])
            os.kill(child, signal.SIGKILL)
            _, err = parent.communicate(timeout=LIMIT)
            self.assertNotEqual(parent.returncode, 0)
            self.assertRegex(err, "process.* (ended|aborted)|lost a process")

    def test_the_time_limit_of_a_job_tells_of_children_and_ends_them(self):
        for more in ((), ("--bind-to", "core")):
            done = run(MPIEXEC, "--timeout", "2", *more, "-n", "2", PARENT, "wait", env=self.environment)
            self.assertEqual(done.returncode, 124, done.stderr)
            of_job, told, of_children = done.stderr.partition("mpiexec: 2 processes that MPI_Comm_spawn has started:\n")
            self.assertTrue(told, done.stderr)
            blocked = r"mpiexec: ranks 0, 1: blocked for \d+\.\d s in MPI_Recv\(source 0, tag 7, "
            self.assertRegex(of_job, r"has run for 2 s \(--timeout\) and is ended; where each rank is:\n" + blocked)
            self.assertRegex(of_children, blocked + "'MPI_COMM_PARENT'")
            self.assertEqual(marked(self.mark), [])

    def test_the_time_limit_of_a_job_tells_of_children_that_have_been_left(self):
        flag = pathlib.Path(self.folder.name) / "flag"
        done = run(MPIEXEC, "--timeout", "2", "-n", "1", PARENT, "stay", str(flag), env=self.environment)
        self.assertEqual((done.returncode, flag.exists()), (124, False), done.stderr)
        self.assertRegex(done.stderr, "rank 0.*(ended|exit code 0)")
        self.assertRegex(done.stderr, "mpiexec: 2 processes that MPI_Comm_spawn has started:\nmpiexec: rank")
        self.assertEqual(marked(self.mark), [])

    def test_a_job_that_is_asked_tells_of_children(self):
        job = start(MPIEXEC, "-n", "1", PARENT, "wait", env=self.environment)
        for _ in range(2):
            self.assertIn("child ", job.stdout.readline())
        for _ in range(20):  # until they have waited for long enough to be reported
            job.send_signal(signal.SIGQUIT)
            while "has started:" not in (line := job.stderr.readline()):
                self.assertIn("mpiexec: ", line)
            told = job.stderr.readline()
            if "MPI_COMM_PARENT" in told:
                break
            time.sleep(0.1)
        self.assertRegex(told, r"mpiexec: ranks 0, 1: blocked for .* in MPI_Recv\(source 0, tag 7, 'MPI_COMM_PARENT'")
        job.terminate()
        job.communicate(timeout=LIMIT)
        self.assertEqual(job.returncode, 143)

    def test_disconnected_children_outlive_their_parent(self):
        for launcher in ((), (MPIEXEC, "-n", "1")):
            flag = pathlib.Path(self.folder.name) / f"flag{len(launcher)}"
            done = run(*launcher, PARENT, "leave", str(flag), env=self.environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            wait_until(flag.exists, "the child has written its file")

    def test_many_spawns_leave_nothing_in_the_parent(self):
        rounds = 10 * ROUNDS
        spawned = run(PARENT, "again", str(rounds), env=self.environment)
        self.assertEqual(spawned.returncode, 0, spawned.stderr)
        values = {key: list(map(float, value.split())) for key, value in re.findall(r"(\w+): (.*)", spawned.stdout)}
        self.assertLessEqual(values["descriptors"][1], values["descriptors"][0] + 2, spawned.stdout)
        self.assertLessEqual(values["threads"][1], values["threads"][0] + 1, spawned.stdout)  # one may be about to end
        self.assertLessEqual(values["kilobytes"][1], values["kilobytes"][0] + 4096, spawned.stdout)

    def test_services_are_found_by_name(self):
        names = {**self.environment, "HEDDLE_NAMES": self.folder.name}
        server = start(MPIEXEC, "-n", "2", SERVICE, "serve", env=names)
        self.assertEqual(server.stdout.readline(), "serving\n")
        for launcher, number in (((), 7), ((MPIEXEC, "-n", "3"), 12)):
            asked = run(*launcher, SERVICE, "ask", str(number), env=names)
            self.assertEqual(asked.stdout, f"the square of {number} is {number * number}: correct\n", asked.stderr)
        self.assertEqual(run(SERVICE, "end", env=names).returncode, 0)
        server.communicate(timeout=LIMIT)
        self.assertEqual(server.returncode, 0)
        unknown = run(SERVICE, "ask", "1", env=names)
        self.assertIn("MPI_ERR_NAME", unknown.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)

# SPDX-License-Identifier: BSD-3-Clause
"""tools/hosts.py: hosts are apart, have a network, and leave nothing behind."""

import os
import signal
import subprocess
import time
import unittest
import uuid

import hosts

# LISTEN answers at a port of node2; CALL connects to it, and prints "reached" or "not reached" within a second.
LISTEN = "python3 -c 'import socket; s = socket.create_server((\"\", 9)); print(1, flush=True)\nwhile True: s.accept()'"
CALL = """python3 -c '
import socket
try:
    socket.create_connection(("node2", 9), 1).close()
    print("reached")
except OSError:
    print("not reached")'"""


def running_with(word):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if word.encode() in file.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:
            pass  # the process has ended
    return found


def state(pid):
    """Returns the name of a process, and the letter of its state."""
    with open(f"/proc/{pid}/stat") as file:
        name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
    return name, rest.split()[0]


class Namespaces(unittest.TestCase):
    def test_what_is_apart(self):
        ended = hosts.run(2, """
            touch /tmp/mine /dev/shm/mine /run/mine
            for host in node1 node2; do
                $HOSTS_AGENT $host 'find /tmp /dev/shm /run -name mine; hostname; cat /proc/sys/kernel/random/boot_id'
            done""")
        self.assertEqual((ended.code, ended.err), (0, ""))
        *first, start, second, other_start = ended.out.split()
        self.assertEqual((first, second), (["/tmp/mine", "/dev/shm/mine", "/run/mine", "node1"], "node2"))
        self.assertNotEqual(start, other_start)

    def test_process_ids_repeat(self):
        ended = hosts.run(4, "for host in node2 node3 node4; do $HOSTS_AGENT $host 'exec sh -c \"echo \\$\\$\"'; done")
        self.assertEqual(len(ended.out.split()), 3)
        self.assertTrue(all(int(pid) < 100 for pid in ended.out.split()), ended)

    def test_exit_codes_and_environment(self):
        ended = hosts.run(2, "echo $MINE; $HOSTS_AGENT node2 'echo $MINE-; exit 5'; echo $?; exit 7", MINE="x")
        self.assertEqual((ended.code, ended.out.split()), (7, ["x", "-", "5"]))

    def test_what_was_stopped_goes_on(self):
        mark = f"m{uuid.uuid4().hex}"
        with subprocess.Popen([hosts.TOOL, "1", "sh", "-c", "read line; exit 3", mark], stdin=subprocess.PIPE) as process:
            end = time.monotonic() + hosts.WATCHDOG

            def shells():
                return [pid for pid in running_with(mark) if pid != process.pid and state(pid)[0] == "sh"]

            while not shells() and time.monotonic() < end:
                time.sleep(0.01)
            [shell] = shells()
            for _ in range(20):
                os.kill(shell, signal.SIGSTOP)
                while state(shell)[1] != "T" and time.monotonic() < end:
                    time.sleep(0.01)
                os.kill(shell, signal.SIGCONT)
            process.communicate(b"now\n", timeout=hosts.WATCHDOG)
            self.assertEqual(process.returncode, 3)

    def test_a_host_is_cut_off_and_halted(self):
        ended = hosts.run(2, f"""
            mkfifo /tmp/said
            $HOSTS_AGENT node2 "{LISTEN.replace('"', chr(92) + '"')}" >/tmp/said &
            read line </tmp/said
            {CALL}; $HOSTS_AGENT --cut node2; {CALL}; $HOSTS_AGENT --mend node2; {CALL}; $HOSTS_AGENT --halt node2; {CALL}
            wait""")
        self.assertEqual(ended.out.splitlines(), ["reached", "not reached", "reached", "not reached"], ended)

    def test_what_is_left_is_named(self):
        mark = f"1{uuid.uuid4().int % 10**9}"
        ended = hosts.run(2, f"$HOSTS_AGENT node2 'setsid sleep {mark} >/dev/null 2>&1 &'")
        self.assertEqual(ended.code, 1)
        self.assertIn(f"left behind on node2: sleep {mark}", ended.err)
        self.assertEqual(running_with(mark), [])

    def test_nothing_is_left_when_it_is_killed(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            mark = f"1{uuid.uuid4().int % 10**9}"
            with subprocess.Popen([hosts.TOOL, "2", "sh", "-c", f"$HOSTS_AGENT node2 'sleep {mark}' & setsid sleep {mark}"],
                                  stdin=subprocess.DEVNULL) as process:
                end = time.monotonic() + hosts.WATCHDOG
                while len(running_with(mark)) < 2 and time.monotonic() < end:
                    time.sleep(0.01)
                process.send_signal(number)
            while running_with(mark) and time.monotonic() < end:
                time.sleep(0.01)
            self.assertEqual(running_with(mark), [])


if __name__ == "__main__":
    hosts.skip_without_hosts()
    unittest.main(verbosity=2)

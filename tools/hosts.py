#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hosts out of namespaces, with a network between them, for tests of several hosts on one machine.

  hosts.py COUNT COMMAND [ARGUMENT ...]

Runs COMMAND on the first of the hosts node1, node2, ... and returns its exit code. Each host has its own network, name, start
number, process ids, /tmp, /run, /dev/shm and System V memory. Processes that are left on a host when COMMAND has ended are
named, and the exit code is 1. Nothing outlives this program, however it ends.

HOSTS_AGENT, in the environment of COMMAND, stands in for ssh:
  $HOSTS_AGENT HOST WORD ...   runs a shell command there, with nothing of the environment but PATH and HOME.
  $HOSTS_AGENT --cut HOST      drops all packets from and to the host from now on, without an error to their senders.
  $HOSTS_AGENT --mend HOST     undoes that.
  $HOSTS_AGENT --halt HOST     kills all processes there at once.

Exit code 77: it takes root, and a kernel that lets it make namespaces.
"""

import ctypes
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid

SKIPPED = 77
PATIENCE = 5  # seconds that launchers' helpers may need to end after them
NEWNS, NEWUTS, NEWIPC, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
PR_SET_PDEATHSIG = 1
ROOT = pathlib.Path(__file__).resolve().parent.parent  # hosts see this tree even if it lies below /tmp
PLACE = pathlib.Path("/run/hosts")  # in memory that ends with the namespace
SOCKET = str(PLACE / "socket")
AGENT = PLACE / "agent"

SWITCH = "ip link add switch type bridge && ip link set switch up"
HOST = f"""
hostname node$1
ip link set lo up
ip addr add 10.77.0.$1/24 dev eth0
ip link set eth0 up
mount -n -t proc proc /proc
mount -n --bind {PLACE}/start$1 /proc/sys/kernel/random/boot_id
mount -n --bind {PLACE}/names /etc/hosts
mkdir {PLACE}/run$1
mount -n -t tmpfs none {PLACE}/run$1
mkdir {PLACE}/run$1/hosts {PLACE}/tmp$1 {PLACE}/tree$1
mount -n --bind {PLACE} {PLACE}/run$1/hosts
mount -n --bind '{ROOT}' {PLACE}/tree$1
mount -n -t tmpfs none /tmp
mkdir -p '{ROOT}'
mount -n --move {PLACE}/tree$1 '{ROOT}'
mount -n -t tmpfs none /dev/shm
mount -n --move {PLACE}/run$1 /run
"""


def skip(why):
    print(f"hosts.py: {why}", file=sys.stderr)
    sys.exit(SKIPPED)


def unshare(flags):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


# ---- the stand-in for ssh ----

def ask_server(words):
    """Hands the standard streams to the server, and exits with the code of the command that used them."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(SOCKET)
        socket.send_fds(server, [json.dumps(words).encode() + b"\n"], [0, 1, 2])
        answer = server.recv(16)
    sys.exit(int(answer) if answer else 255)


class Server:
    """The server that runs the agents' commands. It is outside of the hosts: no process enters a sibling's namespace."""

    def __init__(self, hosts):
        self.hosts = hosts
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(SOCKET)
        self.listener.listen(1000)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            threading.Thread(target=self.answer, args=(self.listener.accept()[0],), daemon=True).start()

    def answer(self, client):
        with client:
            text, streams, _, _ = socket.recv_fds(client, 1 << 20, 3)
            while not text.endswith(b"\n"):
                text += client.recv(1 << 20)
            code = self.obey(json.loads(text), streams)
            try:
                client.sendall(str(code).encode())
            except OSError:
                pass  # the client has been killed; ssh's command would have gone on, too

    def obey(self, words, streams):
        orders = {"--cut": Host.cut, "--mend": Host.mend, "--halt": Host.halt}
        order = orders[words.pop(0)] if words and words[0] in orders else None
        while words and words[0].startswith("-"):
            words.pop(0)  # an option for ssh
        try:
            host = self.hosts[words.pop(0)]
            if order is not None:
                return order(host)
            process = host.start(["setsid", "sh", "-c", "cd; " + " ".join(words)], streams,
                                 {"PATH": os.environ["PATH"], "HOME": "/root"})
        except (IndexError, KeyError):
            return 255
        finally:
            for stream in streams:
                os.close(stream)
        code = process.wait()
        return code if code >= 0 else 128 - code


# ---- hosts ----

class Host:
    """A host. Its first process reaps orphans, and all other processes end with it."""

    def __init__(self, number, switch):
        self.name = f"node{number}"
        self.port = f"to{number}"
        self.switch = switch
        (PLACE / f"start{number}").write_text(f"{uuid.uuid4()}\n")
        self.holder = hold(NEWNET | NEWUTS | NEWNS | NEWIPC | NEWPID)
        inside(switch, "-n", "sh", "-ec", f"ip link add name {self.port} type veth peer name eth0 netns {self.holder}\n"
               f"ip link set {self.port} master switch\nip link set {self.port} up")
        inside(self.holder, "-n", "-u", "-m", "-i", "-p", "sh", "-ec", HOST, "sh", str(number))

    def start(self, command, streams, environment):
        """Starts a command, but not by nsenter, which stops when its child is stopped, and is not continued."""
        return subprocess.Popen(command, stdin=streams[0], stdout=streams[1], stderr=streams[2], env=environment,
                                preexec_fn=self.enter)

    def enter(self):
        """Forks. The child goes on in the namespaces. The caller waits for the child, and exits with its code."""
        libc = ctypes.CDLL(None, use_errno=True)
        opened = [os.open(f"/proc/{self.holder}/ns/{name}", os.O_RDONLY) for name in ("net", "uts", "ipc", "pid", "mnt")]
        for namespace in opened:
            if libc.setns(namespace, 0) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        child = os.fork()
        if child == 0:
            return
        os.closerange(0, os.sysconf("SC_OPEN_MAX"))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os._exit(code if code >= 0 else 128 - code)

    def cut(self):
        return inside(self.switch, "-n", "ip", "link", "set", self.port, "nomaster")

    def mend(self):
        return inside(self.switch, "-n", "ip", "link", "set", self.port, "master", "switch")

    def halt(self):
        """Ends all processes, and waits for the first: the waiter for this program sees the host's processor time."""
        try:
            os.kill(self.holder, signal.SIGKILL)
            os.waitpid(self.holder, 0)
        except (ProcessLookupError, ChildProcessError):
            pass  # it was halted before
        return 0

    def others(self):
        """Returns the processes there besides the first one."""
        try:
            here = os.readlink(f"/proc/{self.holder}/ns/pid")
        except OSError:
            return []  # it was halted
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
                if pid != self.holder and is_in(pid, here)]

    def end(self):
        """Ends the host. Returns the command lines of processes that were left."""
        until = time.monotonic() + PATIENCE
        while self.others() and time.monotonic() < until:
            time.sleep(0.02)
        left = [pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode() for pid in self.others()]
        self.halt()
        return left


def is_in(pid, namespace):
    try:
        return os.readlink(f"/proc/{pid}/ns/pid") == namespace
    except OSError:
        return False  # it has ended


def inside(holder, *words):
    return subprocess.run(["nsenter", "-t", str(holder), *words], check=True).returncode


def hold(flags):
    """Starts a process that is the first of its own namespaces, and keeps them. Returns its id."""
    read, write = os.pipe()
    middle = os.fork()
    if middle == 0:
        unshare(flags)
        holder = os.fork()
        if holder == 0:
            os.close(write)
            reap_for_ever()
        os.write(write, str(holder).encode())
        os._exit(0)
    os.close(write)
    os.waitpid(middle, 0)
    with os.fdopen(read) as said:
        return int(said.read())


def reap_for_ever():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for descriptor in range(3):
        os.dup2(os.open("/dev/null", os.O_RDWR), descriptor)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    while True:
        try:
            os.wait()
        except ChildProcessError:
            signal.sigwait({signal.SIGCHLD})


# ---- all of it ----

def run_inside(count, command):
    """Runs the command, as the first process of its own namespaces: when it ends, the kernel ends all others."""
    subprocess.run(["mount", "-n", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "-n", "-t", "tmpfs", "none", "/run"], check=True)
    subprocess.run(["mount", "-n", "-t", "proc", "proc", "/proc"], check=True)
    PLACE.mkdir()
    names = [f"10.77.0.{number} node{number}\n" for number in range(1, count + 1)]
    (PLACE / "names").write_text("127.0.0.1 localhost\n" + "".join(names))
    shutil.copy(__file__, AGENT)
    AGENT.chmod(0o755)
    switch = hold(NEWNET)
    inside(switch, "-n", "sh", "-c", SWITCH)
    hosts = [Host(number, switch) for number in range(1, count + 1)]
    Server({host.name: host for host in hosts})
    command = ["sh", "-c", 'cd "$0" && exec "$@"', os.getcwd(), *command]
    code = hosts[0].start(command, (0, 1, 2), dict(os.environ, HOSTS_AGENT=str(AGENT))).wait()
    code = code if code >= 0 else 128 - code
    for host in hosts:
        for left in host.end():
            print(f"hosts.py: left behind on {host.name}: {left}", file=sys.stderr)
            code = 1
    return code


def start_in_namespaces(count, command):
    """Starts a process that runs the command, and dies with this process. Returns its id."""
    alive, kept = os.pipe()
    child = os.fork()
    if child != 0:
        return child
    os.close(kept)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if select.select([alive], [], [], 0)[0]:
        os._exit(1)  # the parent has died meanwhile
    os.close(alive)
    os._exit(run_inside(count, command))


def main():
    if os.path.basename(sys.argv[0]) == AGENT.name:
        ask_server(sys.argv[1:])
    if len(sys.argv) < 3 or not sys.argv[1].isdigit() or not 1 <= int(sys.argv[1]) <= 250:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    if os.getuid() != 0:
        skip("making hosts takes root")
    for tool in ("ip", "mount", "nsenter", "setsid", "unshare"):
        if shutil.which(tool) is None:
            skip(f"{tool} is not installed")
    if subprocess.run(["unshare", "-n", "-u", "-m", "-i", "-p", "-f", "true"], stderr=subprocess.DEVNULL,
                      check=False).returncode != 0:
        skip("namespaces are not allowed here")
    unshare(NEWNS | NEWPID)
    child = start_in_namespaces(int(sys.argv[1]), sys.argv[2:])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: os.kill(child, signal.SIGKILL))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""The state of the machine: how far apart its cores are, and the time that other programs take."""

from __future__ import annotations

import os
import pathlib
import re
import resource
import subprocess
import time
from typing import Callable, TypeVar

OTHERS_SHARE = 0.05  # of a core that other programs may take from a measurement
TRIES, PATIENCE_S = 3, 15.0

T = TypeVar("T")


class Machine:
    def __init__(self, line: pathlib.Path, tries: int = TRIES) -> None:
        """Makes a machine. line: the program of line.c. tries: how often disturbed work is done at most."""
        self.line = line
        self.tries = tries
        self.seen_ns: list[float] = []
        self.disturbed = 0

    def line_ns(self) -> float:
        """Measures the round trip of a cache line between the first two cores. Returns 0 on a single core."""
        ns = 0.0
        if cores() > 1:
            done = subprocess.run([self.line], check=True, capture_output=True, text=True)
            ns = float(done.stdout)
        self.seen_ns.append(ns)
        return ns

    def alone(self, work: Callable[[], T]) -> T:
        """Does the work, again if other programs took part of the time, `tries` times at most."""
        for left in reversed(range(self.tries)):
            begin, busy, ours = time.monotonic(), busy_seconds(), children_seconds()
            result = work()
            others = busy_seconds() - busy - (children_seconds() - ours)
            if others <= OTHERS_SHARE * (time.monotonic() - begin) + 0.03:
                return result
            if left:
                wait_for_quiet()
        self.disturbed += 1
        return result


def busy_seconds() -> float:
    """Returns the CPU time of all programs of the machine since its start."""
    words = pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    return sum(map(int, words[1:4])) / os.sysconf("SC_CLK_TCK")


def children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def wait_for_quiet() -> None:
    """Waits until no other program runs, but PATIENCE_S at most."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        busy = busy_seconds()
        time.sleep(0.5)
        if busy_seconds() - busy <= OTHERS_SHARE * 0.5 + 0.03:
            return


def hardware() -> str:
    model = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{cores()} cores, {model.group(1) if model else os.uname().machine}"


def cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))

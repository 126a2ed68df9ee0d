# SPDX-License-Identifier: BSD-3-Clause
"""Runs one command at a time, under a time limit, and leaves nothing of it running."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
import pathlib
import signal
import subprocess
from typing import Iterator, Mapping, Optional, Sequence

PR_SET_CHILD_SUBREAPER = 36
PATIENCE_S = 5.0
SLICES = 20         # of a time limit
LAST_LOOK_S = 0.05  # of wait for a command that may have ended while this process was stopped


@dataclasses.dataclass(frozen=True)
class Outcome:
    output: str
    errors: str
    problem: Optional[str] = None  # None: the command succeeded


def adopt_orphans() -> None:
    """Makes this process the parent of all processes that a launcher leaves behind, so that it finds them."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def execute(argv: Sequence[str], environment: Mapping[str, str], limit_s: float) -> Outcome:
    """Runs the command in a session of its own, which the terminal's Ctrl-C does not reach."""
    try:
        with subprocess.Popen(argv, env=dict(environment), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", start_new_session=True) as job:
            try:
                output, errors = communicate(job, limit_s)
            except subprocess.TimeoutExpired:
                end(job)
                return Outcome("", "", f"no end within {limit_s:g} s")
            except BaseException:
                end(job)
                raise
    finally:
        end_children()  # also those of a command whose start was interrupted
    if job.returncode == 0:
        return Outcome(output, errors)
    return Outcome(output, errors, f"exit {job.returncode}: {complaint(errors)}")


def communicate(job: subprocess.Popen[str], limit_s: float) -> tuple[str, str]:
    """Returns the command's output and errors when it has ended. Raises subprocess.TimeoutExpired after the limit.

    Time during which this process itself was stopped does not count, whether the command was stopped or not:
    the limit is spent in slices, and a slice that took longer counts as one.
    """
    for _ in range(SLICES):
        try:
            return job.communicate(timeout=limit_s / SLICES)
        except subprocess.TimeoutExpired:
            pass
    return job.communicate(timeout=LAST_LOOK_S)


def complaint(errors: str) -> str:
    """Returns the line that names an MPI error, or else the last line."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return next((line for line in lines if "MPI_ERR" in line), lines[-1] if lines else "(no message)")


def end(job: subprocess.Popen[str]) -> None:
    """Ends a command and its processes. Sends SIGTERM first, so that a launcher can end its ranks."""
    with undisturbed():
        signal_group(job, signal.SIGTERM)
        try:
            job.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            pass
        signal_group(job, signal.SIGKILL)
        job.wait()


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Blocks SIGINT and SIGTERM inside of the `with` block, so that it can tidy up."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def signal_group(job: subprocess.Popen[str], number: int) -> None:
    try:
        os.killpg(job.pid, number)  # the command leads its group, since it leads its session
    except ProcessLookupError:
        pass


def end_children() -> None:
    """Ends the remaining children of this process. Their children become children of this process, and follow."""
    with undisturbed():
        while children := children_now():
            for child in children:
                try:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                except (ProcessLookupError, ChildProcessError):
                    pass


def children_now() -> list[int]:
    tasks = pathlib.Path("/proc/self/task")
    return [int(word) for task in tasks.iterdir()
            for word in (task / "children").read_text(encoding="ascii").split()]

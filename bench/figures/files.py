# SPDX-License-Identifier: BSD-3-Clause
"""Files: collective access beside the program's own exchange, blocks beside pwrite and pread, opening, and computing
beside a write. Files lie in memory and on a disk.

The figures come from no paper: they show what this project promises.
"""

from __future__ import annotations

from laboratory.figure import At, Claim, End, Figure, Metric, Paper, Series, Who
from laboratory.readings import Result

PLACES = (("memory", "/dev/shm/heddle-bench-files", "tab:blue"), ("disk", "/tmp/heddle-bench-files", "tab:orange"))
REPEATED = ("--repetitions", "{repetitions}")


def everywhere(**ranks: int) -> tuple[Series, ...]:
    return tuple(Series(name, ("--file", file), who=Who.ALL, colour=colour, **ranks) for name, file, colour in PLACES)


def over(how: str, label: str) -> Metric:
    return Metric(how, f"{label}, over what a program reaches by itself", "", Result("over_own", {"how": how}))


def rate(how: str, label: str) -> Metric:
    return Metric(f"{how}_rate", label, "MB/s", Result("MBps", {"how": how}))


def at_least(least: float, metric: Metric, words: str) -> tuple[Claim, ...]:
    return tuple(Claim(f"Here, {name}: {words}", At(name, End.LAST), least=least, metric=metric.key)
                 for name, _, _ in PLACES)


CUBE_METRICS = (over("write_at_all", "written"), over("read_at_all", "read"),
                rate("write_at_all", "written"), rate("read_at_all", "read"))
CUBE = Figure(
    "files-cube", "the array", "A block of a three-dimensional array for each of 8 ranks",
    "MPI_File_write_at_all and MPI_File_read_at_all beside MPI_Alltoallv to slabs and one pwrite or pread of each rank.",
    "files", "bytes that lie together", (64, 256, 1024, 4096), CUBE_METRICS, everywhere(ranks=8),
    (*at_least(0.9, CUBE_METRICS[0], "writes at 0.9 of the program's own exchange."),
     *at_least(0.9, CUBE_METRICS[1], "reads at 0.9 of the program's own exchange.")),
    words=("--what", "cube", "--bytes", "64M", "--run", "{x}", *REPEATED), x_log=True, follows_cores=False)

BLOCK_METRICS = (over("write_at", "MPI_File_write_at"), over("write_at_all", "MPI_File_write_at_all"),
                 over("read_at", "MPI_File_read_at"), over("read_at_all", "MPI_File_read_at_all"))
BLOCKS = Figure(
    "files-blocks", "the blocks", "Contiguous blocks of 2 ranks",
    "Each rank writes and reads blocks of its own, in turn with pwrite and pread.",
    "files", "bytes of a block", (64 << 10, 1 << 20, 4 << 20), BLOCK_METRICS, everywhere(ranks=2),
    tuple(claim for metric in BLOCK_METRICS for claim in at_least(0.95, metric, f"{metric.key} at 0.95 of the system call.")),
    words=("--what", "blocks", "--block", "{x}", *REPEATED), x_log=True, follows_cores=False)

OPENING = Figure(
    "files-open", "the opening", "MPI_File_open and MPI_File_close", "A file that is there, opened and closed by all ranks.",
    "files", "ranks", (1, 2, 4, 8),
    (Metric("opening", "open and close", "us", Result("us", {"how": "open_and_close"}), log=True),),
    everywhere(ranks=0, ranks_per_x=1), (), words=("--what", "open", *REPEATED), follows_cores=False)

HIDDEN = Metric("hidden", "part of the shorter one that is hidden", "%", Result("percent", {"how": "hidden"}))
OVERLAP = Figure(
    "files-overlap", "the overlap", "5 ms of computing beside MPI_File_iwrite_at", "One rank, which has a core to spare.",
    "files", "bytes written", (1 << 20, 8 << 20, 64 << 20), (HIDDEN,), everywhere(ranks=1),
    tuple(Claim(f"Here, {name}: 90 % of 8 MiB are hidden.", At(name, 8 << 20), least=90, metric="hidden")
          for name, _, _ in PLACES),
    words=("--what", "overlap", "--write", "{x}", *REPEATED), x_log=True, follows_cores=False)

PAPER = Paper("files", "Files", "no paper: what this project promises", (CUBE, BLOCKS, OPENING, OVERLAP))

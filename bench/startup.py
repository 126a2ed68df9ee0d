#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Start and end of two empty ranks, and resident memory of empty ranks.

    startup.py [--ranks N] DIR -- MPIEXEC [OPTION ...]

DIR holds the programs `empty` and `memory`. Prints one `result` line each. With --ranks it measures start and end of so
many empty ranks. In turn with them it starts as many /bin/true, which is what the launcher itself takes.
"""

import argparse
import re
import statistics
import subprocess
import sys
import time

RANKS = (1, 2, 4, 8, 16)


def start_ms(launch, program, ranks):
    """Returns the wall time, in ms, of so many ranks that initialise and finalise."""
    begin = time.monotonic()
    subprocess.run([*launch, "-n", str(ranks), program], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)
    return (time.monotonic() - begin) * 1e3


def starts_ms(launch, programs, ranks, runs):
    """Returns such times of several programs in turn. The first turn reads the files from disk and does not count."""
    turns = [[start_ms(launch, program, ranks) for program in programs] for _ in range(runs + 1)]
    return list(zip(*turns[1:]))


def report_start(launch, program, runs):
    [times] = starts_ms(launch, [program], 2, runs)
    median, least = statistics.median(times), min(times)
    print(f"startup: two empty ranks: {median:.1f} ms, at least {least:.1f} ms")
    print(f"result bench=startup start_ms={median:.2f} start_ms_min={least:.2f}", flush=True)


def report_beside_launcher(launch, program, ranks, runs):
    times = starts_ms(launch, [program, "/bin/true"], ranks, runs)
    empty, true = map(statistics.median, times)
    print(f"startup: {ranks} empty ranks: {empty:.1f} ms, /bin/true {true:.1f} ms")
    print(f"result bench=startup ranks={ranks} empty_ms={empty:.2f} true_ms={true:.2f} over_ms={empty - true:.2f}")


def memory_kib(launch, program, ranks, words):
    """Returns the resident memory of a rank, in KiB by kind, as the program printed it."""
    run = subprocess.run([*launch, "-n", str(ranks), program, *words], check=True,
                         stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return {key: int(value) for key, value in re.findall(r"(\w+_kib\w*)=(\d+)", run.stdout)}


def report_memory(launch, program, words):
    by_ranks = {n: memory_kib(launch, program, n, words) for n in RANKS}
    for n, kinds in by_ranks.items():
        print(f"memory: {n:3d} ranks:", "  ".join(f"{k} {v}" for k, v in kinds.items()))
    few, many = RANKS[1], RANKS[-1]  # from 2 on: one rank alone may need no shared memory at all
    growth = (by_ranks[many]["rss_kib"] - by_ranks[few]["rss_kib"]) / (many - few)
    print(f"result bench=memory talk={int(bool(words))} rss_kib={by_ranks[few]['rss_kib']}"
          f" growth_kib={growth:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--ranks", type=int, help="only their start, beside that of /bin/true")
    parser.add_argument("dir")
    parser.add_argument("launch", nargs="+")
    args = parser.parse_args()
    if args.ranks:
        report_beside_launcher(args.launch, f"{args.dir}/empty", args.ranks, args.runs)
        return
    report_start(args.launch, f"{args.dir}/empty", args.runs)
    for words in ([], ["talk"]):
        report_memory(args.launch, f"{args.dir}/memory", words)


if __name__ == "__main__":
    try:
        main()
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"startup.py: {error}")

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the benchmarks for Heddle and for other MPI libraries, in turn, and print Markdown tables.

    compare.py --build build/release --peer mpich=PREFIX --peer openmpi-ucx=PREFIX ...

A peer is NAME=PREFIX (laboratory/contestants.py; peers.sh installs some). The same sources are built
with each contestant's own compiler wrappers.

Contestants take turns (A B C A B C ...), since a machine changes while one measures. Before and
after every figure the round trip of a cache line between the first two cores (line.c) tells the
regime, and only figures of one regime are compared (laboratory/regime.py).
"""

import argparse
import collections
import dataclasses
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

from laboratory import contestants as libraries
from laboratory import jobs, regime
from laboratory.machine import Machine, hardware
from laboratory.readings import Reading, Result
from laboratory.summary import number

HERE = pathlib.Path(__file__).resolve().parent
SERVERS = ("any", "posted", "in-turn")
RUN_TIMEOUT_S = 300


@dataclasses.dataclass
class Yardstick:
    """A program without MPI that takes part; it only knows pairs of threads."""
    name: str
    path: str


@dataclasses.dataclass
class Row:
    """A figure to read from the `result` lines of a run: those that have all of `where`."""
    label: str
    key: str
    unit: str
    where: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Run:
    """One command of an experiment. `script` takes the launcher as arguments instead."""
    rows: list
    ranks: int = 2
    program: str = None
    words: list = dataclasses.field(default_factory=list)
    script: str = None
    yardstick_pairs: int = 0


@dataclasses.dataclass
class Experiment:
    title: str
    runs: list
    derived: list = dataclasses.field(default_factory=list)  # (label, row above, row below)
    any_regime: bool = False  # figures that the distance of the cores does not change


# ---------------------------------------------------------------- contestants


def heddle(build_dir, scratch):
    """The library under construction, or None where it is not built."""
    try:
        return libraries.named(f"heddle={build_dir}", "yield", scratch)
    except libraries.Unusable as problem:
        print(f"compare.py: {problem}: peers only", file=sys.stderr)
        return None


# ---------------------------------------------------------------- experiments


def multirate(n, seconds, brief):
    def run(label, mode, *more):
        words = ["--pairs", str(n), "--mode", mode, "--seconds", str(seconds), *more]
        ranks = 2 if mode == "threads" else 2 * n
        return Run([Row(label, "rate", "M/s")], ranks, "multirate", words)

    pairs = "1 pair" if n == 1 else f"{n} pairs"
    threads, processes = f"{pairs}, threads", f"{pairs}, processes"
    runs = [run(threads, "threads"), run(processes, "processes")]
    runs[0].yardstick_pairs = n
    derived = [(f"{pairs}, threads / processes", threads, processes)]
    if brief:
        pass
    elif n == 1:
        runs.append(run("1 pair, MPI_THREAD_SINGLE", "threads", "--level", "single"))
        derived.append(("1 pair, MULTIPLE / SINGLE", threads, "1 pair, MPI_THREAD_SINGLE"))
    else:
        runs.append(run(f"{pairs}, threads, communicator each", "threads", "--comm", "per-pair"))
        runs.append(run(f"{pairs}, threads, MPI_ANY_TAG", "threads", "--tag", "any"))
    return Experiment(f"Multirate, {pairs}, 0 B", runs, derived)


def pingpong():
    sizes = {0: "0 B", 64: "64 B", 4096: "4 KiB", 65536: "64 KiB", 1 << 20: "1 MiB",
             16 << 20: "16 MiB"}
    rows = []
    for size, name in sizes.items():
        where = {"bytes": str(size)}
        rows.append(Row(f"half round trip, {name}", "latency_us", "us", where))
        if size >= 65536:
            rows.append(Row(f"bandwidth, {name}", "MBps", "MB/s", where))
    words = ["--sizes", ",".join(map(str, sizes))]
    return Experiment("Ping-pong", [Run(rows, 2, "pingpong", words)])


def latency(clients, seconds, brief):
    def run(server):
        rows = [Row(f"server {server}: round trip", "round_trip_us", "us"),
                Row(f"server {server}: slowest thread / mean", "slowest", "")]
        words = ["--clients", str(clients), "--server", server, "--seconds", str(seconds)]
        return Run(rows, 2, "latency_regime", words)

    return Experiment(f"Latency regime, {clients} clients, 64 B",
                      [run(server) for server in (("any",) if brief else SERVERS)])


def throughput(pairs, seconds):
    def run(n):
        words = ["--threads", str(n), "--seconds", str(seconds)]
        return Run([Row(f"{n} threads", "rate", "M/s")], 2, "throughput_regime", words)

    return Experiment("Throughput regime, 64 B", [run(n) for n in pairs])


def wait_cost():
    def run(ranks):
        rows = [Row(f"{ranks} ranks: CPU of 3 s blocked, at most", "cpu_ms_max", "ms"),
                Row(f"{ranks} ranks: wake-up", "wake_us", "us")]
        return Run(rows, ranks, "wait_cost", ["--seconds", "3"])

    return Experiment("Waiting", [run(2), run(8)])


def startup():
    rows = [Row("start and end of two empty ranks", "start_ms", "ms"),
            Row("resident, empty rank", "rss_kib", "KiB", {"growth_kib": None, "talk": "0"}),
            Row("growth per further rank", "growth_kib", "KiB", {"talk": "0"}),
            Row("growth per further rank, all have talked", "growth_kib", "KiB", {"talk": "1"})]
    return Experiment("Start and memory", [Run(rows, script="startup.py")], any_regime=True)


def instructions():
    rows = [Row("MPI_Isend", "isend", "instructions"),
            Row("posted MPI_Irecv", "irecv", "instructions")]
    return Experiment("Instructions, 0 B, MPI_THREAD_MULTIPLE",
                      [Run(rows, program="instructions", script="instructions.sh")],
                      any_regime=True)


def experiments(args):
    pairs = [int(n) for n in args.pairs.split(",")]
    makers = {
        "multirate": lambda: [multirate(n, args.seconds, args.brief) for n in pairs],
        "pingpong": lambda: [pingpong()],
        "latency": lambda: [latency(args.clients, args.seconds, args.brief)],
        "throughput": lambda: [throughput(pairs, args.seconds)],
        "wait": lambda: [wait_cost()],
        "startup": lambda: [startup()],
        "instructions": lambda: [instructions()],
    }
    chosen = args.only.split(",") if args.only else list(makers)
    unknown = set(chosen) - set(makers)
    if unknown:
        sys.exit(f"compare.py: --only knows {', '.join(makers)}, not {', '.join(unknown)}")
    return [experiment for name in chosen for experiment in makers[name]()]


# ---------------------------------------------------------------- running


def command(run, contestant):
    """The command line of a run, or None where the contestant cannot take part."""
    if isinstance(contestant, Yardstick):
        return [contestant.path, str(run.yardstick_pairs)] if run.yardstick_pairs else None
    if run.script == "startup.py":
        folders = {contestant.program(name).parent for name in ("empty", "memory")}
        return [sys.executable, str(HERE / run.script), *map(str, folders), "--", *contestant.launch]
    program = str(contestant.program(run.program))
    if run.script:
        return [str(HERE / run.script), program, *contestant.launch]
    return [*contestant.launch, "-n", str(run.ranks), program, *run.words]


def reading_of(outcome):
    """What a run said; a yardstick's line as if Multirate had printed it."""
    reading = Reading.of(outcome.output, outcome.errors)
    yardstick = re.search(r"pairs (\d+) rate ([\d.]+) M/s", outcome.output)
    if yardstick:
        reading.results.append({"bench": "multirate", "rate": yardstick.group(2)})
    return reading


def figure(argv, contestant, machine):
    """The regime in which a command ran, and what it said."""
    environment = {**os.environ, **getattr(contestant, "environment", {})}
    before = machine.line_ns()
    outcome = machine.alone(lambda: jobs.execute(argv, environment, RUN_TIMEOUT_S))
    after = machine.line_ns()
    if outcome.problem:
        print(f"  {contestant.name}: {outcome.problem}", file=sys.stderr)
    return regime.between(before, after), reading_of(outcome)


def measure(experiment, contestants, rounds, machine):
    """All figures: (row label, contestant) -> [Sample]."""
    figures = collections.defaultdict(list)
    for turn in range(rounds):
        print(f"{experiment.title}: round {turn + 1} of {rounds}", file=sys.stderr)
        for run in experiment.runs:
            for contestant in contestants:
                argv = command(run, contestant)
                if argv is None:
                    continue
                seen, reading = figure(argv, contestant, machine)
                for row in run.rows:
                    value = Result(row.key, row.where).read(reading)
                    if value is not None:
                        figures[row.label, contestant.name].append(regime.Sample(seen, value))
    return figures


# ---------------------------------------------------------------- reporting


def cell_text(chosen, cells, label, name, first):
    """The median; behind it, in brackets, the first contestant's value over this one."""
    value = cells.get((label, name))
    if value is None:
        return "–"
    if (label, name) in chosen.foreign:
        return regime.FOREIGN + number(value)
    reference = cells.get((label, first))
    if name == first or not reference or not value or (label, first) in chosen.foreign:
        return number(value)
    return f"{number(value)} ({reference / value:.2f})"


def table(experiment, figures, contestants):
    chosen = regime.select(figures, experiment.any_regime)
    cells = chosen.medians()
    names = [c.name for c in contestants if any(name == c.name for _, name in figures)]
    rows = [row for run in experiment.runs for row in run.rows]
    lines = [f"### {experiment.title}", "", f"{chosen.note}.", "",
             "| | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for row in rows:
        label = f"{row.label} [{row.unit}]" if row.unit else row.label
        texts = [cell_text(chosen, cells, row.label, name, contestants[0].name) for name in names]
        lines.append(f"| {label} | " + " | ".join(texts) + " |")
    for label, above, below in experiment.derived:
        texts = []
        for name in names:
            top, bottom = cells.get((above, name)), cells.get((below, name))
            foreign = chosen.foreign & {(above, name), (below, name)}
            texts.append(f"{top / bottom:.2f}" if top and bottom and not foreign else "–")
        lines.append(f"| *{label}* | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def commands(experiment, contestant):
    """How to repeat one experiment by hand, without the paths of this machine."""
    texts = []
    for run in experiment.runs:
        argv = command(run, contestant)
        if argv:
            texts.append(shlex.join(pathlib.PurePath(word).name if "/" in word else word
                                    for word in argv))
    return "\n".join(["", "```", *texts, "```", ""])


def own_command():
    """This very call; only the names of peers and programs, since paths differ elsewhere."""
    words = [re.sub(r"^([\w-]+=)?/.*?([^/]*)$", r"\1…/\2", word) for word in sys.argv[1:]]
    return "bench/compare.py " + " ".join(words)


def header(machine, contestants):
    seen = machine.seen_ns
    return "\n".join([
        f"## {' against '.join(c.name for c in contestants)}", "",
        f"`{own_command()}` on {hardware()}. Cache line round trip {min(seen):.0f} to "
        f"{max(seen):.0f} ns, median {statistics.median(seen):.0f} ns; {machine.disturbed} runs "
        f"shared the machine with other programs. Medians; in brackets {contestants[0].name}'s "
        f"value over this one.", ""])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, help="Heddle's build folder")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PREFIX")
    parser.add_argument("--yardstick", metavar="PROGRAM",
                        help="prints 'pairs N rate X M/s' for its argument N")
    parser.add_argument("--only", help="multirate,pingpong,latency,throughput,wait,startup,"
                                       "instructions")
    parser.add_argument("--brief", action="store_true",
                        help="without the variants of Multirate and of the latency regime")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pairs", default="1,2,4,8")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=0.2, help="of one repetition")
    parser.add_argument("--waiting", choices=("yield", "default"), default="yield",
                        help="whether peers are told to yield the core while they wait")
    parser.add_argument("--append", type=pathlib.Path, metavar="FILE",
                        help="append the tables to FILE, such as docs/measurements.md")
    return parser.parse_args()


def find_contestants(args, scratch):
    contestants = []
    if args.build:
        ours = heddle(args.build, scratch)
        if ours:
            contestants.append(ours)
    contestants += [libraries.named(spec, args.waiting, scratch) for spec in args.peer]
    if not contestants:
        sys.exit("compare.py: nothing to measure: give --build, --peer or both")
    contestants.append(Yardstick("ring", str(libraries.native("ring.cpp", scratch))))
    if args.yardstick:
        contestants.append(Yardstick("yardstick", os.path.abspath(args.yardstick)))
    return contestants


def main():
    args = arguments()
    chosen = experiments(args)
    jobs.adopt_orphans()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        contestants = find_contestants(args, scratch)
        machine = Machine(libraries.native("line.c", scratch))
        tables = []
        for experiment in chosen:
            figures = measure(experiment, contestants, args.rounds, machine)
            text = table(experiment, figures, contestants) + "\n"
            print(text, flush=True)
            tables.append(text + commands(experiment, contestants[0]))
        report = "\n".join([header(machine, contestants), *tables])
    print(header(machine, contestants))
    if args.append:
        with args.append.open("a", encoding="utf-8") as file:
            file.write("\n" + report)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        jobs.end_children()
        sys.exit(130)
    except (OSError, libraries.Unusable, subprocess.CalledProcessError) as error:
        sys.exit(f"compare.py: {error}")

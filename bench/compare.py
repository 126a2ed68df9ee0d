#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the benchmarks for Heddle and for other MPI libraries, in turn, and print Markdown tables.

    compare.py --build build/release --peer mpich=PREFIX --peer openmpi-ucx=PREFIX ...

A peer is NAME=PREFIX (laboratory/contestants.py; peers.sh installs some). The same sources are built
with each contestant's own compiler wrappers.

Contestants take turns (A B C A B C ...), since a machine changes while one measures. The round trip of a
cache line between the first two cores (line.c) tells the regime. It is measured before and after every
figure, and only figures of one regime are compared (laboratory/regime.py).
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

from experiments import experiments
from laboratory import contestants as libraries
from laboratory import hosts, jobs, regime
from laboratory.machine import TRIES, Machine, hardware
from laboratory.readings import Reading, Result
from laboratory.summary import number

HERE = pathlib.Path(__file__).resolve().parent
RUN_TIMEOUT_S = 300
HOSTS_TIMEOUT_S = 60  # on several hosts some libraries hang


@dataclasses.dataclass
class Yardstick:
    """A program without MPI that takes part; it only knows pairs of threads."""
    name: str
    path: str


# ---------------------------------------------------------------- contestants


def heddle(build_dir, scratch):
    """Returns the library under construction, or None if it is not built."""
    try:
        return libraries.named(f"heddle={build_dir}", "yield", scratch)
    except libraries.Unusable as problem:
        print(f"compare.py: {problem}: peers only", file=sys.stderr)
        return None


# ---------------------------------------------------------------- running


def command(run, contestant):
    """Returns the command line of a run, or None if the contestant cannot take part."""
    if isinstance(contestant, Yardstick):
        return [contestant.path, str(run.yardstick_pairs)] if run.yardstick_pairs else None
    if run.script == "startup.py":
        return startup(run, contestant)
    program = str(contestant.program(run.program))
    if run.script:
        return [str(HERE / run.script), program, *contestant.launch]
    return [*contestant.start(run.ranks, run.hosts, run.pinned), program, *run.words]


def startup(run, contestant):
    """Returns the command line of startup.py, which starts its ranks itself, from the first host if there are several."""
    folders = {contestant.program(name).parent for name in ("empty", "memory")}
    script = [sys.executable, str(HERE / run.script), *run.words, *map(str, folders), "--"]
    if run.hosts == 1:
        return [*script, *contestant.launch]
    return [*hosts.made(run.hosts), *script, *contestant.launch_on_hosts(run.ranks, run.hosts)]


def reading_of(outcome):
    """Returns the results that a run printed. A yardstick's line counts as one of Multirate."""
    reading = Reading.of(outcome.output, outcome.errors)
    yardstick = re.search(r"pairs (\d+) rate ([\d.]+) M/s", outcome.output)
    if yardstick:
        reading.results.append({"bench": "multirate", "rate": yardstick.group(2)})
    return reading


def figure(argv, contestant, run, machine):
    """Runs a command. Returns the ns of the cache line before and after it, and its reading."""
    yardstick = isinstance(contestant, Yardstick)
    environment = {**os.environ, **({} if yardstick else contestant.environment_on(run.hosts))}
    before = machine.line_ns()
    limit = RUN_TIMEOUT_S if run.hosts == 1 else HOSTS_TIMEOUT_S
    outcome = machine.alone(lambda: jobs.execute(argv, environment, limit))
    after = machine.line_ns()
    if outcome.problem:
        print(f"  {contestant.name}: {outcome.problem}", file=sys.stderr)
    return before, after, reading_of(outcome)


def measure(experiment, contestants, rounds, machine, log):
    """Returns all figures: (row label, contestant) -> [Sample]. Logs each at once, with its regime."""
    figures = collections.defaultdict(list)
    for turn in range(rounds):
        print(f"{experiment.title}: round {turn + 1} of {rounds}", file=sys.stderr)
        for run in experiment.runs:
            for contestant in contestants:
                argv = command(run, contestant)
                if argv is None:
                    continue
                before, after, reading = figure(argv, contestant, run, machine)
                seen = regime.between(before, after)
                for row in run.rows:
                    value = Result(row.key, row.where).read(reading)
                    if value is None:
                        continue
                    figures[row.label, contestant.name].append(regime.Sample(seen, value))
                    print(f"{experiment.title}: {row.label}", contestant.name, value, row.unit,
                          f"{before:.0f}", f"{after:.0f}", seen, sep="\t", file=log, flush=True)
    return figures


# ---------------------------------------------------------------- reporting


def cell_text(chosen, cells, label, name, first):
    """Returns the median and, in brackets, the first contestant's value over this one."""
    value = cells.get((label, name))
    if value is None:
        return "–"
    if (label, name) in chosen.foreign:
        return regime.FOREIGN + number(value)
    reference = cells.get((label, first))
    if name == first or not reference or not value or (label, first) in chosen.foreign:
        return number(value)
    return f"{number(value)} ({reference / value:.2f})"


def best_peer(row, cells, chosen, names):
    """Returns the first contestant's figure over that of the best peer, and its name; '' if there is none."""
    peers = {name: cells[row.label, name] for name in names[1:]
             if cells.get((row.label, name)) and (row.label, name) not in chosen.foreign}
    ours = cells.get((row.label, names[0]))
    if not peers or not ours or (row.label, names[0]) in chosen.foreign:
        return ""
    best = row.better()(peers, key=peers.get)
    return f"{ours / peers[best]:.2f} {best}"


def table(experiment, figures, contestants):
    chosen = regime.select(figures, experiment.any_regime)
    cells = chosen.medians()
    names = [c.name for c in contestants if any(name == c.name for _, name in figures)]
    rows = [row for run in experiment.runs for row in run.rows]
    lines = [f"### {experiment.title}", "", f"{chosen.note}.", "",
             "| | " + " | ".join([*names, "over the best peer"]) + " |",
             "|---|" + "---:|" * (len(names) + 1)]
    libraries_only = [name for name in names
                      if not any(c.name == name and isinstance(c, Yardstick) for c in contestants)]
    for row in rows:
        label = f"{row.label} [{row.unit}]" if row.unit else row.label
        texts = [cell_text(chosen, cells, row.label, name, contestants[0].name) for name in names]
        texts.append(best_peer(row, cells, chosen, libraries_only))
        lines.append(f"| {label} | " + " | ".join(texts) + " |")
    for label, above, below in experiment.derived:
        texts = []
        for name in names:
            top, bottom = cells.get((above, name)), cells.get((below, name))
            foreign = chosen.foreign & {(above, name), (below, name)}
            texts.append(f"{top / bottom:.2f}" if top and bottom and not foreign else "–")
        lines.append(f"| *{label}* | " + " | ".join([*texts, ""]) + " |")
    return "\n".join(lines)


def commands(experiment, contestant):
    """Returns the commands that repeat one experiment by hand, without the paths of this machine."""
    texts = []
    for run in experiment.runs:
        argv = command(run, contestant)
        if argv:
            texts.append(shlex.join(pathlib.PurePath(word).name if "/" in word else word
                                    for word in argv))
    return "\n".join(["", "```", *texts, "```", ""])


def own_command():
    """Returns this call. Peers and programs have no folders, since paths differ elsewhere."""
    words = [re.sub(r"^([\w-]+=)?/.*?([^/]*)$", r"\1…/\2", word) for word in sys.argv[1:]]
    return f"bench/{pathlib.Path(sys.argv[0]).name} {' '.join(words)}"


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
                                       "instructions; files; processes,jobs; accumulates; sizes,written,windows,late,collectives; "
                                       "pair: these five and multirate")
    parser.add_argument("--log", type=pathlib.Path, metavar="FILE",
                        help="each figure at once, with the line before and after it in ns")
    parser.add_argument("--brief", action="store_true",
                        help="without the variants of Multirate and of the latency regime")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pairs", default="1,2,4,8")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=0.2, help="of one repetition")
    parser.add_argument("--no-wait", action="store_true",
                        help="measure also while other programs take part of the machine")
    parser.add_argument("--waiting", choices=("yield", "default"), default="yield",
                        help="whether peers are told to yield the core while they wait")
    parser.add_argument("--append", type=pathlib.Path, metavar="FILE",
                        help="append the tables to FILE, such as bench/results/peers.md")
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


def measure_all(args, chosen, contestants, machine):
    """Prints each table when it is complete. Returns all tables, with the commands that give them."""
    tables = []
    with open(args.log or os.devnull, "a", encoding="utf-8") as log:
        for experiment in chosen:
            figures = measure(experiment, contestants, args.rounds, machine, log)
            text = table(experiment, figures, contestants) + "\n"
            print(text, flush=True)
            tables.append(text + commands(experiment, contestants[0]))
    return tables


def run(main):
    """Runs main() as a program: ends the children on Ctrl-C, and turns an exception into a message."""
    try:
        main()
    except KeyboardInterrupt:
        jobs.end_children()
        sys.exit(130)
    except (OSError, libraries.Unusable, subprocess.CalledProcessError) as error:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {error}")


def main():
    args = arguments()
    chosen = experiments(args)
    jobs.adopt_orphans()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        contestants = find_contestants(args, scratch)
        machine = Machine(libraries.native("line.c", scratch), 1 if args.no_wait else TRIES)
        tables = measure_all(args, chosen, contestants, machine)
        report = "\n".join([header(machine, contestants), *tables])
    print(header(machine, contestants))
    if args.append:
        with args.append.open("a", encoding="utf-8") as file:
            file.write("\n" + report)


if __name__ == "__main__":
    run(main)

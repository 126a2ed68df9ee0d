# SPDX-License-Identifier: BSD-3-Clause
"""`heddle logp`: makes the measurements that the model of logp.py needs, and prints predictions beside measurements.

Parameters come from other lengths than those that are predicted. Both are measured in turns; a turn is one short run of each
program. The regime of the machine is taken before and after each run (regime.py, machine.py), and runs of one regime count.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import os
import pathlib
import signal
import sys
import time
from typing import Iterator, Mapping, NoReturn, Sequence

from . import contestants, jobs, logp, logp_rows, regime, scale_parameters
from .arguments import positive, positive_real
from .contestants import Contestant, without_knobs
from .figure import HEDDLE
from .logp_rows import Cell, Comparison, Row
from .machine import Machine, hardware
from .progress import Progress
from .readings import results_of
from .tables import aligned

DESCRIPTION = """\
Measures the parameters of P5's extended LogP model (o_s, o_r, o_sb, o_rb, g, G, L) and of the waking of a receiver (w), predicts
from them what single calls take, and prints that beside measurements at the lengths of P5's table 1 and beyond, with the error in
percent, and the reason where it is more than 15 and the measurements say one."""
FITTED = (1, 30, 70, 300, 700, 1500, 2400,  # 2400 touches the memory of these; no prediction lies between it and the next
          6000, 14_000, 48_000, 90_000, 110_000, 160_000, 220_000, 300_000, 440_000, 600_000, 880_000,
          1_200_000, 2_000_000, 3_000_000, 5_000_000, 7_000_000, 10_000_000)
PREDICTED = (10, 100, 1 << 10, 10 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20, 8 << 20)
LIMIT_S = 300
FIRST_GUESS_S = 20  # of a turn
TRIES = 1  # of a run that other programs disturbed: it does not count, and turns are short


class Failed(Exception):
    """A run without a usable result. The text says why."""


@dataclasses.dataclass(frozen=True)
class Run:
    """A program, and the fields of logp.Measured that its results fill."""
    program: str
    words: tuple[str, ...]
    fields: Mapping[str, str]  # names of results by field

    def times(self, results: Sequence[dict[str, str]]) -> Iterator[tuple[Cell, float]]:
        for result in results:
            for field, name in self.fields.items():
                if name in result:
                    yield (field, int(result["bytes"])), float(result[name])


def runs(settings: argparse.Namespace) -> list[Run]:
    """Returns the runs of a turn. A receiver whose partner computes sleeps after waiting for long enough."""
    repeated = ("--seconds", f"{settings.seconds:g}", "--repetitions", str(settings.repetitions))
    everywhere = ("--sizes", listed(FITTED + PREDICTED), *repeated)
    beside = (*everywhere, "--milliseconds", f"{settings.milliseconds:g}")
    rounds = max(5, int(1000 * settings.seconds * settings.repetitions / settings.milliseconds))
    late = ("--sizes", listed(FITTED), "--answer", "empty", "--rounds", str(rounds),
            "--times", f"{1000 * settings.milliseconds:.0f}")
    return [
        Run("pingpong", everywhere, {"one_way": "latency_us"}),
        Run("late", late, {"answer": "round_trip_us", "waking_send": "send_us"}),
        *(Run("blocking", ("--call", call, "--partner", partner, *beside), {field: "time_us"})
          for call, partner, field in (("send", "waiting", "send_to_waiting"), ("send", "computing", "send_to_computing"),
                                       ("recv", "late", "recv_late"), ("recv", "early", "recv_early"))),
        Run("overlap", ("--computing", "sender", *beside), {"isend": "isend_us", "wait": "wait_us", "clock": "clock_us"}),
        Run("overlap", ("--computing", "both", *beside), {"receiver_wait": "receiver_wait_us"}),
        Run("pingpong", ("--window", "64", "--sizes", "1", *repeated), {"gap": "latency_us"})]


def listed(lengths: Sequence[int]) -> str:
    """Returns the lengths, longest first. The first one touches all of the library's memory, so that no other has to."""
    return ",".join(map(str, sorted(lengths, reverse=True)))


class Bench:
    """Runs the programs of one library in one place."""

    def __init__(self, contestant: Contestant, hosts: int, launcher: Sequence[str], machine: Machine) -> None:
        """Makes a bench. launcher: the words that start ranks, if not the library's own on this machine."""
        self.contestant, self.hosts, self.launcher, self.machine = contestant, hosts, launcher, machine

    def results(self, run: Run) -> list[dict[str, str]]:
        start = [*self.launcher, "-n", "2"] if self.launcher else self.contestant.start(2, self.hosts)
        argv = [*start, str(self.contestant.program(run.program)), *run.words]
        environment = {**(os.environ if self.launcher else without_knobs()), **self.contestant.environment_on(self.hosts)}
        outcome = jobs.execute(argv, environment, LIMIT_S)
        if outcome.problem:
            raise Failed(f"{run.program} {' '.join(run.words)}: {outcome.problem}")
        return results_of(outcome.output)

    def sampled(self, run: Run) -> Iterator[tuple[Cell, regime.Sample]]:
        """Yields the results of a run, with its regime. That of a disturbed run is `changing`."""
        before, disturbed = self.machine.line_ns(), self.machine.disturbed
        results = self.machine.alone(lambda: self.results(run))
        seen = regime.between(before, self.machine.line_ns())
        if self.machine.disturbed > disturbed:
            seen = regime.CHANGING
        for at, time in run.times(results):
            yield at, regime.Sample(seen, time)

    def pingpong(self, hosts: int, words: Sequence[str], prefix: Sequence[str]) -> dict[int, float]:
        """Returns the us of one way by length, between two ranks on hosts of this machine."""
        argv = [*prefix, *self.contestant.start(2, hosts), str(self.contestant.program("pingpong")), *words]
        outcome = jobs.execute(argv, {**without_knobs(), **self.contestant.environment_on(hosts)}, LIMIT_S)
        if outcome.problem:
            raise Failed(f"pingpong {' '.join(words)}: {outcome.problem}")
        return {int(result["bytes"]): float(result["latency_us"]) for result in results_of(outcome.output)}

    def measure(self, settings: argparse.Namespace) -> dict[Cell, list[regime.Sample]]:
        for program in {run.program for run in runs(settings)}:
            self.contestant.program(program)  # built before anything is measured
        samples: dict[Cell, list[regime.Sample]] = collections.defaultdict(list)
        progress = Progress(range(settings.turns), FIRST_GUESS_S)
        for turn in range(settings.turns):
            progress.begin(f"turn of {self.contestant.name}")
            start = time.monotonic()
            for run in runs(settings):
                for at, sample in self.sampled(run):
                    samples[at].append(sample)
            progress.done(turn, time.monotonic() - start)
        progress.end()
        return samples


def number(value: float) -> str:
    return f"{value:.4g}"


def of_parameters(model: logp.Model) -> str:
    columns = {"o_s [us]": model.o_s.at, "o_sb [us]": model.o_sb.at, "o_rb [us]": model.o_rb.at, "w [us]": model.w.at,
               "G [ns a byte]": lambda n: 1000 * model.G(n)}
    rows = [["bytes", *columns]]
    for length in FITTED:
        long = length > model.limit  # such a message is not copied
        rows.append([str(length), *("" if long and name.startswith("o_sb") else number(read(length))
                                    for name, read in columns.items())])
    return (f"{aligned(rows)}\nL {number(model.L)} us, o_r {number(model.o_r)} us, g {number(model.g)} us, "
            f"w_s {number(model.w_s)} us; MPI_Send copies messages up to {model.limit} bytes")


def of_rows(rows: Sequence[Row]) -> str:
    texts = [["bytes", "predicted [us]", "measured [us]", "error", "reason"]]
    texts += [[str(row.length), number(row.predicted), number(row.measured), f"{row.error:+.0f} %", row.reason]
              for row in rows]
    return aligned(texts)


def of_reasons(rows: Sequence[Row]) -> str:
    """Returns a text: how many predictions are good, and how many of the others have which reason."""
    seen = collections.Counter(row.reason for row in rows)
    unexplained = seen[logp_rows.UNEXPLAINED]
    good = seen[""]
    lines = [f"{good} of {len(rows)} predictions are within {logp_rows.TOO_FAR:g} %, {len(rows) - good - unexplained} explained, "
             f"{unexplained} unexplained."]
    lines += [f"- {reason}, {seen[reason]}: {meaning}." for reason, meaning in logp_rows.REASONS.items() if seen[reason]]
    return "\n".join(lines)


def report(title: str, compared: Comparison, machine: Machine) -> str:
    seen = machine.seen_ns
    tables = compared.tables(PREDICTED)
    parts = [f"{title}, {hardware()}\n{compared.chosen.note}. Cache line round trip {min(seen):.0f} to {max(seen):.0f} ns; "
             f"{machine.disturbed} runs shared the machine with other programs.", of_parameters(compared.model),
             *(f"{name}\n{of_rows(rows)}" for name, rows in tables.items()),
             of_reasons([row for rows in tables.values() for row in rows])]
    return "\n\n".join(parts)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="heddle logp", description=DESCRIPTION)
    made.add_argument("--hosts", type=int, choices=(1, 2), default=1,
                      help="2: over TCP between two hosts that are made of namespaces, as root (default: one node)")
    made.add_argument("--peer", action="append", default=[], metavar="NAME=PREFIX", help="another MPI, as of heddle bench")
    made.add_argument("--milliseconds", type=positive_real, default=5, help="of computing (default %(default)s)")
    made.add_argument("--turns", type=positive, default=23, help="of all programs (default %(default)s)")
    made.add_argument("--seconds", type=positive_real, default=0.01, help="of one repetition of a turn (default %(default)s)")
    made.add_argument("--repetitions", type=positive, default=3, help="in each turn (default %(default)s)")
    made.add_argument("--parameters", type=pathlib.Path, metavar="FILE",
                      help="write them for `heddle scale --between FILE`, or --within where this is one node")
    made.add_argument("--out", type=pathlib.Path, default=pathlib.Path("heddle-bench"), metavar="DIR",
                      help="where programs are built (default %(default)s)")
    made.add_argument("--heddle", type=pathlib.Path, metavar="PREFIX", required=True, help=argparse.SUPPRESS)
    made.add_argument("launcher", nargs="*", metavar="-- LAUNCHER",
                      help="how Heddle's ranks are started, if not on this machine, as in `-- mpiexec --host a,b`; not with --hosts 2")
    return made


def checked(made: argparse.ArgumentParser) -> argparse.Namespace:
    args = made.parse_args()
    if args.launcher and args.hosts != 1:
        made.error(f"--hosts {args.hosts} and the launcher {' '.join(args.launcher)} both say where ranks run; give one of them")
    if args.parameters and (args.launcher or args.peer):
        made.error("--parameters is of Heddle alone, on this machine: it takes no launcher and no --peer")
    return args


def write_parameters(args: argparse.Namespace, bench: Bench, model: logp.Model, title: str) -> None:
    repeated = ("--seconds", f"{5 * args.seconds:g}", "--repetitions", str(args.repetitions))
    more = scale_parameters.measured(bench.pingpong, args.hosts, repeated, model)
    if args.hosts == 1:
        more["signal_us"] = min(bench.machine.seen_ns) / 2000
    args.parameters.write_text(scale_parameters.printed(title, model, more), encoding="utf-8")


def leave(problem: object) -> NoReturn:
    print(f"heddle logp: {problem}", file=sys.stderr)
    sys.exit(2)


def run(args: argparse.Namespace) -> None:
    specs = [f"{HEDDLE}={args.heddle}", *args.peer]
    everyone = [contestants.named(spec, "yield", args.out.resolve() / "programs") for spec in specs]
    contestants.lend_hydra(everyone)
    line = contestants.native("line.c", args.out.resolve() / "programs")
    for contestant in everyone:
        launcher = args.launcher if contestant.is_heddle else []
        place = f"by {' '.join(launcher)}" if launcher else "one node" if args.hosts == 1 else "TCP between two hosts"
        machine = Machine(line, TRIES)
        bench = Bench(contestant, args.hosts, launcher, machine)
        compared = Comparison(bench.measure(args), FITTED, 1000 * args.milliseconds)
        if args.parameters:
            write_parameters(args, bench, compared.model, f"heddle logp, {place}, {hardware()}")
        print(report(f"{contestant.name}, {place}", compared, machine) + "\n", flush=True)


def interrupt(number_: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def main() -> None:
    signal.signal(signal.SIGTERM, interrupt)
    args = checked(parser())
    jobs.adopt_orphans()
    try:
        run(args)
    except (contestants.Unusable, Failed) as problem:
        leave(problem)
    except KeyboardInterrupt:
        jobs.end_children()
        sys.exit(130)

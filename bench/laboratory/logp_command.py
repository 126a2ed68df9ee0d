# SPDX-License-Identifier: BSD-3-Clause
"""`heddle logp`: measures what the model of logp.py needs, and prints its predictions beside measurements.

Parameters come from other lengths than those that are predicted, in the same runs.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import signal
import sys
from typing import NoReturn, Sequence

from . import contestants, jobs, logp
from .contestants import Contestant, without_knobs
from .figure import HEDDLE
from .machine import hardware
from .readings import results_of
from .tables import aligned

DESCRIPTION = """\
Measures the parameters of P5's extended LogP model (o_s, o_r, o_sb, o_rb, g, G, L), predicts from them what single calls
take, and prints that beside measurements at the lengths of P5's table 1 and beyond, with the error in percent."""
FITTED = (1, 30, 300, 1000, 3000, 6000, 12_000, 24_000, 48_000, 96_000, 192_000, 384_000, 768_000, 3_000_000, 6_000_000,
          12_000_000)
PREDICTED = (10, 100, 1 << 10, 10 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20, 8 << 20)
TOO_FAR = 15.0  # percent
LIMIT_S = 300


class Failed(Exception):
    """A run that said nothing of use; the text says why."""


class Bench:
    """Runs the programs of one library in one place."""

    def __init__(self, contestant: Contestant, hosts: int, launcher: Sequence[str], settings: argparse.Namespace) -> None:
        """launcher: how to start ranks, if not as the library does on this machine."""
        self.contestant, self.hosts, self.launcher, self.settings = contestant, hosts, launcher, settings

    def results(self, program: str, *words: str) -> list[dict[str, str]]:
        start = [*self.launcher, "-n", "2"] if self.launcher else self.contestant.start(2, self.hosts)
        argv = [*start, str(self.contestant.program(program)), *words, "--seconds", f"{self.settings.seconds:g}",
                "--repetitions", str(self.settings.repetitions)]
        environment = {**(os.environ if self.launcher else without_knobs()), **self.contestant.environment_on(self.hosts)}
        outcome = jobs.execute(argv, environment, LIMIT_S)
        if outcome.problem:
            raise Failed(f"{program} {' '.join(words)}: {outcome.problem}")
        return results_of(outcome.output)

    def by_length(self, key: str, program: str, *words: str) -> dict[int, float]:
        return times(self.results(program, *words, *lengths()), key)

    def computing(self, program: str, *words: str) -> list[dict[str, str]]:
        return self.results(program, *words, *lengths(), "--milliseconds", f"{self.settings.milliseconds:g}")

    def measure(self) -> logp.Measured:
        overlap = self.computing("overlap", "--computing", "sender")
        both = self.computing("overlap", "--computing", "both")

        def blocking(call: str, partner: str) -> dict[int, float]:
            return times(self.computing("blocking", "--call", call, "--partner", partner), "time_us")

        [window] = self.results("pingpong", "--window", "64", "--sizes", "1")
        return logp.Measured(
            self.by_length("latency_us", "pingpong"), blocking("send", "waiting"), blocking("send", "computing"),
            times(overlap, "isend_us"), times(overlap, "wait_us"), times(both, "receiver_wait_us"),
            blocking("recv", "early"), blocking("recv", "late"), float(window["latency_us"]))


def lengths() -> tuple[str, str]:
    return "--sizes", ",".join(map(str, sorted(FITTED + PREDICTED)))


def times(results: Sequence[dict[str, str]], key: str) -> dict[int, float]:
    return {int(result["bytes"]): float(result[key]) for result in results if key in result}


def number(value: float) -> str:
    return f"{value:.4g}"


def of_parameters(model: logp.Model) -> str:
    rows = [["", "short", "long"]]
    for name, read in (("o_s [us]", lambda p: p.o_s.start), ("o_s [ns a byte]", lambda p: 1000 * p.o_s.per_byte),
                       ("o_r [us]", lambda p: p.o_r), ("L [us]", lambda p: p.L), ("G [ns a byte]", lambda p: 1000 * p.G),
                       ("o_sb [us]", lambda p: p.o_sb.start), ("o_sb [ns a byte]", lambda p: 1000 * p.o_sb.per_byte),
                       ("o_rb [us]", lambda p: p.o_rb.start), ("o_rb [ns a byte]", lambda p: 1000 * p.o_rb.per_byte)):
        long_too = not name.startswith("o_sb")  # a long message is not copied
        rows.append([name, number(read(model.short)), number(read(model.long)) if long_too else ""])
    return f"{aligned(rows)}\ng {number(model.g)} us; MPI_Send copies messages up to {model.limit} bytes"


def of_rows(rows: Sequence[logp.Row]) -> str:
    texts = [["bytes", "predicted [us]", "measured [us]", "error"]]
    texts += [[str(row.length), number(row.predicted), number(row.measured),
               f"{row.error:+.0f} %" + ("" if abs(row.error) <= TOO_FAR else " !")] for row in rows]
    return aligned(texts)


def report(title: str, measured: logp.Measured, computed: float) -> str:
    model = logp.model_of(measured.part(list(FITTED)), computed)
    parts = [f"{title}, {hardware()}", of_parameters(model)]
    good = total = 0
    for name, rows in logp.tables(model, measured.part(list(PREDICTED)), computed).items():
        parts.append(f"{name}\n{of_rows(rows)}")
        good += sum(abs(row.error) <= TOO_FAR for row in rows)
        total += len(rows)
    parts.append(f"{good} of {total} predictions are within {TOO_FAR:g} % (! marks the others).")
    return "\n\n".join(parts)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="heddle logp", description=DESCRIPTION)
    made.add_argument("--hosts", type=int, choices=(1, 2), default=1,
                      help="2: over TCP between two hosts that are made of namespaces, as root (default: one node)")
    made.add_argument("--peer", action="append", default=[], metavar="NAME=PREFIX", help="another MPI, as of heddle bench")
    made.add_argument("--milliseconds", type=float, default=5, help="of computing (default %(default)s)")
    made.add_argument("--seconds", type=float, default=0.1, help="of one repetition (default %(default)s)")
    made.add_argument("--repetitions", type=int, default=5)
    made.add_argument("--out", type=pathlib.Path, default=pathlib.Path("heddle-bench"), metavar="DIR",
                      help="where programs are built (default %(default)s)")
    made.add_argument("--heddle", type=pathlib.Path, metavar="PREFIX", required=True, help=argparse.SUPPRESS)
    made.add_argument("launcher", nargs="*", metavar="-- LAUNCHER",
                      help="how Heddle's ranks are started, if not on this machine, as in `-- mpiexec --host a,b`")
    return made


def leave(problem: object) -> NoReturn:
    print(f"heddle logp: {problem}", file=sys.stderr)
    sys.exit(2)


def run(args: argparse.Namespace) -> None:
    specs = [f"{HEDDLE}={args.heddle}", *args.peer]
    everyone = [contestants.named(spec, "yield", args.out.resolve() / "programs") for spec in specs]
    contestants.lend_hydra(everyone)
    for contestant in everyone:
        launcher = args.launcher if contestant.is_heddle else []
        place = f"by {' '.join(launcher)}" if launcher else "one node" if args.hosts == 1 else "TCP between two hosts"
        measured = Bench(contestant, args.hosts, launcher, args).measure()
        print(report(f"{contestant.name}, {place}", measured, 1000 * args.milliseconds) + "\n", flush=True)


def interrupt(number_: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def main() -> None:
    signal.signal(signal.SIGTERM, interrupt)
    args = parser().parse_args()
    jobs.adopt_orphans()
    try:
        run(args)
    except (contestants.Unusable, Failed) as problem:
        leave(problem)
    except KeyboardInterrupt:
        jobs.end_children()
        sys.exit(130)

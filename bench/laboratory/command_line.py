# SPDX-License-Identifier: BSD-3-Clause
"""The command `heddle bench`."""

from __future__ import annotations

import argparse
import os
import pathlib
import signal
import subprocess
import sys
from typing import NoReturn, Optional, Sequence

from . import catalogue, contestants, jobs, plots, tables
from .arguments import positive, positive_real
from .campaign import Campaign, Plan, Settings, configuration, xs_of
from .figure import HEDDLE, Figure, Paper
from .machine import Machine
from .page import page
from .points import Store, newest
from .summary import Summary, summarise

DESCRIPTION = """\
Measures figures of the papers that Heddle starts from, prints them as tables, and writes them as CSV and
SVG beside what the paper says. Without a figure, lists what there is. What was measured already with the
same configuration is not measured again, so that an interrupted run is resumed by the same command."""
QUICK = {"turns": 1, "seconds": 0.02, "repetitions": 1, "points": 2, "tries": 1, "again": False}
INTERRUPTED = 130
DISTRIBUTION_PYTHON = "/usr/bin/python3"


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="heddle bench", description=DESCRIPTION)
    made.add_argument("figures", nargs="*", metavar="FIGURE", help="such as p1-3a; p1-3 is all of 3")
    made.add_argument("--paper", action="append", default=[], metavar="PAPER", help="all of its figures")
    made.add_argument("--all", action="store_true", help="the figures of all papers")
    made.add_argument("--peer", action="append", default=[], metavar="NAME=PREFIX",
                      help="another MPI, measured in turn; NAME begins with mpich, openmpi, "
                           "openmpi-ucx, intel or heddle (bench/peers.sh installs some)")
    made.add_argument("--out", type=pathlib.Path, default=pathlib.Path("heddle-bench"), metavar="DIR",
                      help="where results lie (default %(default)s)")
    made.add_argument("--html", action="store_true",
                      help="write DIR/index.html with all that was measured so far")
    made.add_argument("--resume", action="store_true", help="do not measure again what is there (default)")
    made.add_argument("--fresh", action="store_true", help="measure anew")
    made.add_argument("--quick", action="store_true",
                      help="two points of each line, one short turn: to see whether it works")
    made.add_argument("--turns", type=positive, metavar="N", help="turns of all contestants (default 5)")
    made.add_argument("--seconds", type=positive_real, metavar="S", help="of one repetition (default 0.1)")
    made.add_argument("--repetitions", type=positive, metavar="N", help="within a run (default 5)")
    made.add_argument("--up-to", type=positive, metavar="N",
                      help="threads or pairs (default twice the cores, at least 8; the papers go further)")
    made.add_argument("--x", type=lambda text: tuple(text.split(",")), metavar="X,X...",
                      help="these points of the x axis only")
    made.add_argument("--waiting", choices=("yield", "default"),
                      help="whether peers are told to yield the core while they wait (default yield)")
    made.add_argument("--no-wait", action="store_true",
                      help="do not wait for other programs that keep the machine busy")
    made.add_argument("--timeout", type=positive_real, metavar="S", help="of one run (default 120)")
    made.add_argument("--heddle", type=pathlib.Path, metavar="PREFIX", required=True,
                      help=argparse.SUPPRESS)  # given by the command heddle
    return made


def settings_of(args: argparse.Namespace) -> Settings:
    told = {"turns": args.turns, "seconds": args.seconds, "repetitions": args.repetitions,
            "up_to": args.up_to, "only_xs": args.x, "waiting": args.waiting, "limit_s": args.timeout}
    return Settings(**{**(QUICK if args.quick else {}), **({"tries": 1} if args.no_wait else {}),
                       **{name: value for name, value in told.items() if value is not None}})


def leave(problem: object) -> NoReturn:
    print(f"heddle bench: {problem}", file=sys.stderr)
    sys.exit(2)


def with_matplotlib() -> None:
    """Goes on in the distribution's Python if that one has matplotlib and this one does not."""
    here = os.path.realpath(sys.executable)
    if has_matplotlib(sys.executable) or here == os.path.realpath(DISTRIBUTION_PYTHON):
        return
    if os.access(DISTRIBUTION_PYTHON, os.X_OK) and has_matplotlib(DISTRIBUTION_PYTHON):
        os.execv(DISTRIBUTION_PYTHON, [DISTRIBUTION_PYTHON, *sys.argv])


def has_matplotlib(python: str) -> bool:
    question = "import importlib.util, sys; sys.exit(importlib.util.find_spec('matplotlib') is None)"
    return subprocess.run([python, "-c", question], check=False).returncode == 0


def list_figures(papers: Sequence[Paper]) -> None:
    for paper in papers:
        print(f"{paper.id}: {paper.title} ({paper.authors})")
        for figure in paper.figures:
            print(f"  {figure.id:18}{figure.number:16}{figure.title}")
    print("\nheddle bench FIGURE..., --paper PAPER or --all measures; --help says what else.")


def find_contestants(args: argparse.Namespace, settings: Settings) -> list[contestants.Contestant]:
    specs = [f"{HEDDLE}={args.heddle}", *args.peer]
    names = [spec.partition("=")[0] for spec in specs]
    if len(set(names)) < len(names):
        leave("every peer needs a name of its own: " + ", ".join(names))
    scratch = args.out.resolve() / "programs"
    everyone = [contestants.named(spec, settings.waiting, scratch) for spec in specs]
    contestants.lend_hydra(everyone)
    return everyone


def check_xs(chosen: Sequence[Figure], settings: Settings) -> None:
    """Checks the xs: a figure with numbers takes any number, a figure with names only its own names."""
    for figure in chosen:
        for x in xs_of(figure, settings):
            if x not in figure.xs and (x == 0 or not all(isinstance(v, int) for v in (x, *figure.xs))):
                leave(f"{figure.id} has no x {x}: there are {', '.join(map(str, figure.xs))}")


def measure(args: argparse.Namespace, chosen: Sequence[Figure]) -> None:
    settings = settings_of(args)
    check_xs(chosen, settings)
    everyone = find_contestants(args, settings)
    plans = []
    for figure in chosen:
        store = Store(args.out / "points", figure.id, configuration(figure, everyone, settings))
        if args.fresh:
            store.forget()
        plans.append(Plan(figure, everyone, settings, store))
    line = contestants.native("line.c", args.out.resolve() / "programs")
    machine = Machine(line, settings.tries)
    Campaign(machine, settings).run(plans)


def report(args: argparse.Namespace, chosen: Sequence[Figure]) -> None:
    """Prints and writes the results of the figures. Says once why plots cannot be drawn."""
    missing = None
    for figure in chosen:
        summary = stored(args.out, figure)
        if summary is None:
            continue
        print(tables.as_text(summary) + "\n", flush=True)
        (args.out / f"{figure.id}.csv").write_text(tables.as_csv(summary), encoding="utf-8")
        missing = draw(summary, args.out) or missing
    if missing:
        print(f"heddle bench: {missing}", file=sys.stderr)


def stored(out: pathlib.Path, figure: Figure) -> Optional[Summary]:
    store = newest(out / "points", figure.id)
    return summarise(figure, store) if store else None


def draw(summary: Summary, out: pathlib.Path) -> Optional[str]:
    try:
        plots.draw(summary, out / f"{summary.figure.id}.svg")
    except plots.Unavailable as problem:
        return str(problem)
    return None


def write_page(args: argparse.Namespace, papers: Sequence[Paper]) -> None:
    figures = [figure for paper in papers for figure in paper.figures]
    summaries = {figure.id: summary for figure in figures if (summary := stored(args.out, figure))}
    if not summaries:
        leave(f"nothing was measured in {args.out} yet")
    missing = [problem for summary in summaries.values() if (problem := draw(summary, args.out))]
    if missing:
        print(f"heddle bench: {missing[0]}", file=sys.stderr)
    path = args.out / "index.html"
    pictures = {name: args.out / f"{name}.svg" for name in summaries}
    path.write_text(page(papers, summaries, pictures), encoding="utf-8")
    print(path)


def run(args: argparse.Namespace) -> None:
    papers = catalogue.papers()
    if args.resume and args.fresh:
        leave("--resume and --fresh contradict each other")
    chosen = catalogue.choose(papers, args.figures,
                              [p.id for p in papers] if args.all else args.paper)
    if not chosen and not args.html:
        return list_figures(papers)
    with_matplotlib()
    if chosen:
        jobs.adopt_orphans()
        measure(args, chosen)
        report(args, chosen)
    if args.html:
        write_page(args, papers)


def interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def main() -> None:
    signal.signal(signal.SIGTERM, interrupt)
    args = parser().parse_args()
    try:
        run(args)
    except (catalogue.Unknown, contestants.Unusable) as problem:
        leave(problem)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        jobs.end_children()
        print("\nheddle bench: interrupted; the same command goes on from here", file=sys.stderr)
        sys.exit(INTERRUPTED)

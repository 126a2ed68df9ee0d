#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the benchmarks across several hosts for Heddle and for other MPI libraries, in turn, and print Markdown tables.

    compare_hosts.py --build build/release $(peers.sh build/peers) --page results/hosts.md

The hosts are namespaces of this machine with TCP between them (tools/hosts.py). They are made anew for
each run, which takes root. Peers, and how they take turns, are those of compare.py. The Hydra of the
peer mpich, or the one in PATH, starts the ranks of Heddle.
"""

import argparse
import os
import pathlib
import sys

import compare
from host_experiments import HOSTS, experiments
from laboratory import contestants as libraries
from laboratory import jobs
from laboratory.machine import TRIES, Machine, cores

HERE = pathlib.Path(__file__).resolve().parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="Heddle's build folder, or where it is installed")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PREFIX")
    parser.add_argument("--only", help="sizes,windows,rates,regimes,wait,start,collectives")
    parser.add_argument("--bytes", metavar="N,...",
                        help="of messages whose round trips and bandwidth are measured (default: ten sizes)")
    parser.add_argument("--hosts", type=int, default=HOSTS, help="for collectives (default %(default)s)")
    parser.add_argument("--each", default="1,2,4", metavar="N,...", help="ranks of each host, for collectives (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.05, help="of one repetition (default %(default)s)")
    parser.add_argument("--no-wait", action="store_true", help="measure also while other programs take part of the machine")
    parser.add_argument("--waiting", choices=("yield", "default"), default="yield",
                        help="whether peers are told to yield the core while they wait")
    parser.add_argument("--programs", type=pathlib.Path, default=HERE.parent / "build/host-programs", metavar="DIR",
                        help="where programs are built; hosts must see it (default %(default)s)")
    parser.add_argument("--log", type=pathlib.Path, metavar="FILE", help="each figure at once")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE", help="write the tables to FILE, such as results/hosts.md")
    return parser.parse_args()


def find_contestants(args):
    """Returns the contestants that can start ranks on several hosts. Says why the others cannot."""
    specs = [f"heddle={args.build}", *args.peer]
    everyone = [libraries.named(spec, args.waiting, args.programs.resolve()) for spec in specs]
    libraries.lend_hydra(everyone)
    able = []
    for contestant in everyone:
        try:
            contestant.start(HOSTS, HOSTS)
            able.append(contestant)
        except libraries.Unusable as problem:
            print(f"compare_hosts.py: {problem}", file=sys.stderr)
    if not able or not able[0].is_heddle:
        sys.exit(1)
    return able


def version(contestant):
    """Returns the version that the library reports, on one host."""
    argv = [*contestant.start(1), str(contestant.program("version"))]
    outcome = jobs.execute(argv, {**os.environ, **contestant.environment}, compare.RUN_TIMEOUT_S)
    return outcome.output.strip() or outcome.problem


def introduction(contestants):
    sharing = f"the ranks of a job that has more than {cores()} share a core with those of their host, others have one each"
    return "\n".join([
        "<!-- SPDX-License-Identifier: BSD-3-Clause -->", "# Jobs on several hosts", "",
        "Written by `bench/compare_hosts.py`. Hosts are namespaces of one machine with TCP between them, that is, the "
        f"kernel's own path without a wire; {sharing}. Peers are told to use TCP, and to yield while they wait where "
        "they can be told.", "",
        *(f"- {contestant.name}: {version(contestant)}" for contestant in contestants), ""])


def main():
    args = arguments()
    chosen = experiments(args)
    jobs.adopt_orphans()
    contestants = find_contestants(args)
    machine = Machine(libraries.native("line.c", args.programs.resolve()), 1 if args.no_wait else TRIES)
    tables = compare.measure_all(args, chosen, contestants, machine)
    report = "\n".join([introduction(contestants), compare.header(machine, contestants), *tables])
    if args.page:
        args.page.write_text(report, encoding="utf-8")


if __name__ == "__main__":
    compare.run(main)

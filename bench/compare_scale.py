#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compare what `heddle scale` predicts with what collectives take on hosts that are made of namespaces.

    heddle logp --hosts 2 --parameters between.txt; heddle logp --parameters within.txt
    compare_scale.py --build build/release --between between.txt --within within.txt --hosts 2,4,8

Each algorithm is forced by its knob, and measured with calls in a row, as it is predicted. The ranks of a host share a core.
Hosts take turns on the cores of this machine, also in the prediction. It takes root. Rows whose error exceeds 25 % are marked.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

from laboratory import contestants as libraries
from laboratory import jobs
from laboratory.machine import cores, hardware
from laboratory.readings import results_of

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 120
CALLS = 20  # in a row, in a prediction
WITHIN = 25.0  # percent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="Heddle's build folder, or where it is installed")
    parser.add_argument("--between", type=pathlib.Path, help="a file of heddle logp --hosts 2 --parameters")
    parser.add_argument("--within", type=pathlib.Path, help="a file of heddle logp --parameters")
    parser.add_argument("--hosts", default="2,4,8")
    parser.add_argument("--each", type=int, default=1, help="ranks of a host (default %(default)s)")
    parser.add_argument("--operations", default="barrier,bcast,reduce,allreduce,allgather,alltoall")
    parser.add_argument("--bytes", default="8,1024,65536,1048576")
    parser.add_argument("--seconds", type=float, default=0.05, help="of one repetition (default %(default)s)")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--programs", type=pathlib.Path, default=HERE.parent / "build/host-programs", metavar="DIR",
                        help="where programs are built; hosts must see it (default %(default)s)")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE", help="write the table to FILE")
    return parser.parse_args()


def predictions(args, hosts):
    """Returns the rows of `heddle scale` for so many hosts."""
    files = [word for name in ("between", "within") if getattr(args, name)
             for word in (f"--{name}", str(getattr(args, name)))]
    command = [args.build / "bin/heddle", "scale", "--nodes", str(hosts), "--ranks-per-node", str(args.each),
               "--operations", args.operations, "--bytes", args.bytes, "--calls", str(CALLS), "--cores", str(cores()),
               "--json", *files]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["rows"]


def measured(args, contestant, hosts, row):
    """Returns the us of a call. If that cannot be measured, says why and returns None."""
    operation = row["operation"].lower()
    words = ["--operations", operation, "--sizes", str(max(8, row["bytes"])), "--seconds", str(args.seconds),
             "--repetitions", str(args.repetitions)]
    start = contestant.start(hosts * args.each, hosts, True)
    environment = {**libraries.without_knobs(), f"HEDDLE_COLL_{operation.upper()}": row["algorithm"]}
    outcome = jobs.execute([*start, str(contestant.program("collectives")), *words], environment, LIMIT_S)
    results = results_of(outcome.output)
    if outcome.problem or not results:
        print(f"compare_scale.py: {operation} {row['algorithm']}: {outcome.problem}", file=sys.stderr)
        return None
    return float(results[0]["time_us"])


def compared(args, contestant, hosts):
    """Yields rows of (hosts, operation, bytes, algorithm, predicted, measured, error)."""
    for row in predictions(args, hosts):
        time = measured(args, contestant, hosts, row) if row["simulated"] else None
        if time is not None:
            error = 100 * (row["predicted_us"] - time) / time
            yield (hosts, row["operation"], row["bytes"], row["algorithm"], row["predicted_us"], time, error)


def line(row):
    hosts, operation, size, algorithm, predicted, time, error = row
    mark = " **" if abs(error) > WITHIN else ""
    return f"| {hosts} | {operation} | {size} | {algorithm} | {predicted:.1f} | {time:.1f} | {error:+.0f} %{mark} |"


def summary(rows):
    errors = [abs(row[-1]) for row in rows]
    good = sum(error <= WITHIN for error in errors)
    return f"{good} of {len(rows)} predictions are within {WITHIN:g} %; the median error is {statistics.median(errors):.0f} %."


def report(rows):
    head = ["| hosts | operation | bytes | algorithm | predicted us | measured us | error |", "|---|---|---|---|---|---|---|"]
    parts = [summary(rows)]
    for hosts in sorted({row[0] for row in rows}):
        parts.append(f"- {hosts} hosts: {summary([row for row in rows if row[0] == hosts])}")
    return "\n".join([f"{hardware()}, {cores()} cores.", "", *parts, "", *head, *map(line, rows), ""])


def main():
    args = arguments()
    jobs.adopt_orphans()
    contestant = libraries.named(f"heddle={args.build}", "yield", args.programs.resolve())
    libraries.lend_hydra([contestant])
    rows = []
    for hosts in map(int, args.hosts.split(",")):
        for row in compared(args, contestant, hosts):
            print(line(row), flush=True)
            rows.append(row)
    if not rows:
        sys.exit("compare_scale.py: nothing was measured")
    print(summary(rows))
    if args.page:
        args.page.write_text(report(rows), encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except libraries.Unusable as problem:
        sys.exit(f"compare_scale.py: {problem}")
    except subprocess.CalledProcessError as problem:
        sys.exit(f"compare_scale.py: {problem.stderr.strip()}")

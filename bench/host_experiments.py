# SPDX-License-Identifier: BSD-3-Clause
"""The measurements of compare_hosts.py: jobs on two hosts, and collectives on any number of them."""

import sys

from experiments import Experiment, Row, Run, size_name

HOSTS = 2
SIZES = (0, 8, 64, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22)
SMALL = "8"  # bytes of the messages whose rates are measured


def run(rows, program, words, ranks=HOSTS):
    return Run(rows, ranks, program, words, pinned=True, hosts=HOSTS)


def chosen_sizes(args):
    return [int(size) for size in args.bytes.split(",")] if args.bytes else SIZES


def round_trips(args):
    def at(size):
        rows = [Row(size_name(size), "latency_us", "us", {"bytes": str(size)})]
        return run(rows, "pingpong", ["--sizes", str(size), "--seconds", str(args.seconds)])

    return Experiment("Half a round trip", [at(size) for size in chosen_sizes(args)])


def bandwidth(args):
    def at(size):
        rows = [Row(size_name(size), "MBps", "MB/s", {"bytes": str(size)})]
        return run(rows, "pingpong", ["--sizes", str(size), "--window", "64", "--seconds", str(args.seconds),
                                      "--repetitions", "3"])

    return Experiment("Bandwidth in windows of 64", [at(size) for size in chosen_sizes(args) if size > 0])


def rates(args):
    def by(pairs, mode):
        label = ("1 pair" if pairs == 1 else f"{pairs} pairs") + f", {mode}"
        words = ["--pairs", str(pairs), "--mode", mode, "--size", SMALL, "--seconds", str(args.seconds)]
        return run([Row(label, "rate", "M/s")], "multirate", words, HOSTS * (pairs if mode == "processes" else 1))

    runs = [by(pairs, mode) for pairs in (1, 4) for mode in ("threads", "processes")]
    derived = [("4 pairs, threads / processes", "4 pairs, threads", "4 pairs, processes")]
    return Experiment(f"Rate of messages of {SMALL} B, one communicator, told apart by tag", runs, derived)


def regimes(args):
    """Returns P2's experiment: a server with one thread, and threads at both sides."""
    latency = run([Row("latency regime, 4 clients: round trip", "round_trip_us", "us")], "latency_regime",
                  ["--clients", "4", "--seconds", str(args.seconds)])
    throughput = run([Row("throughput regime, 4 threads", "rate", "M/s")], "throughput_regime",
                     ["--threads", "4", "--seconds", str(args.seconds)])
    return Experiment("Messages of 64 B by threads", [latency, throughput])


def waiting(args):
    rows = [Row("CPU time of 3 s blocked", "cpu_ms_max", "ms"), Row("wake-up", "wake_us", "us")]
    return Experiment("Waiting for a message from another host", [run(rows, "wait_cost", ["--seconds", "3"])],
                      any_regime=True)


def collectives(args):
    """Returns an experiment for each number of ranks that a host has."""
    sizes = (8, 1 << 10, 1 << 14, 1 << 18, 1 << 20)

    def of(each):
        def rows(operation):
            if operation == "barrier":
                return [Row(operation, "time_us", "us", {"operation": operation})]
            return [Row(f"{operation}, {size_name(size)}", "time_us", "us", {"operation": operation, "bytes": str(size)})
                    for size in sizes]

        def one(operation):
            words = ["--operations", operation, "--sizes", ",".join(map(str, sizes)), "--seconds", str(args.seconds),
                     "--repetitions", "3"]
            return Run(rows(operation), args.hosts * each, "collectives", words, pinned=True, hosts=args.hosts)

        runs = [one(name) for name in ("barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall")]
        return Experiment(f"Collectives, {args.hosts} hosts of {each} ranks", runs)

    return [of(int(each)) for each in args.each.split(",")]


def start(args):
    rows = [Row("4 empty ranks", "empty_ms", "ms"), Row("4 times /bin/true", "true_ms", "ms"),
            Row("difference", "over_ms", "ms")]
    words = ["--ranks", "4", "--runs", "7"]
    return Experiment("Start and end", [Run(rows, 4, words=words, script="startup.py", hosts=HOSTS)], any_regime=True)


MAKERS = {"sizes": round_trips, "windows": bandwidth, "rates": rates, "regimes": regimes, "wait": waiting,
          "start": start, "collectives": collectives}


def experiments(args):
    chosen = args.only.split(",") if args.only else list(MAKERS)
    unknown = [name for name in chosen if name not in MAKERS]
    if unknown:
        sys.exit(f"compare_hosts.py: --only knows {', '.join(MAKERS)}, not {', '.join(unknown)}")
    made = [MAKERS[name](args) for name in chosen]
    return [one for some in made for one in (some if isinstance(some, list) else [some])]

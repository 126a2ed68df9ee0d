# SPDX-License-Identifier: BSD-3-Clause
"""The measurements of compare.py: experiments, the commands of each, and the figures to read from them."""

import dataclasses
import sys

SERVERS = ("any", "posted", "in-turn")


@dataclasses.dataclass
class Row:
    """A figure to read from the `result` lines of a run that have all of `where`."""
    label: str
    key: str
    unit: str
    where: dict = dataclasses.field(default_factory=dict)
    more: bool = False  # more is better, as for a rate

    def better(self):
        return max if self.more or self.unit.endswith("/s") else min


@dataclasses.dataclass
class Run:
    """One command of an experiment. A `script` gets the launcher as arguments, and starts the ranks.

    `pinned`: each rank has a core of its own; each host has one if several have more ranks than there are cores.
    """
    rows: list
    ranks: int = 2
    program: str = None
    words: list = dataclasses.field(default_factory=list)
    script: str = None
    yardstick_pairs: int = 0
    pinned: bool = False
    hosts: int = 1


@dataclasses.dataclass
class Experiment:
    title: str
    runs: list
    derived: list = dataclasses.field(default_factory=list)  # (label, row above, row below)
    any_regime: bool = False  # figures that the distance of the cores does not change


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


def pingpong(seconds):
    sizes = {0: "0 B", 64: "64 B", 4096: "4 KiB", 65536: "64 KiB", 1 << 20: "1 MiB",
             16 << 20: "16 MiB"}
    rows = []
    for size, name in sizes.items():
        where = {"bytes": str(size)}
        rows.append(Row(f"half round trip, {name}", "latency_us", "us", where))
        if size >= 65536:
            rows.append(Row(f"bandwidth, {name}", "MBps", "MB/s", where))
    words = ["--sizes", ",".join(map(str, sizes)), "--seconds", str(seconds)]
    return Experiment("Ping-pong", [Run(rows, 2, "pingpong", words)])


def size_name(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"


POWERS_OF_FOUR = (0, *(4 ** k for k in range(13)))  # to 16 MiB


def exchange(title, sizes, seconds, *words):
    """Returns an experiment with one message at a time or with windows, each rank on a core."""
    def run(size):
        rows = [Row(size_name(size), "latency_us", "us", {"bytes": str(size)})]
        return Run(rows, 2, "pingpong", ["--sizes", str(size), "--seconds", str(seconds), *words],
                   pinned=True)

    # Each size has a run of its own. A run is short beside the time for which the cores keep their distance.
    return Experiment(title, [run(size) for size in sizes])


def late(seconds):
    def run(time):
        rounds = max(20, round(seconds / (time * 1e-6 + 1e-5)))
        rows = [Row(f"partner has waited {time} us", "round_trip_us", "us")]
        return Run(rows, 2, "late", ["--times", str(time), "--rounds", str(min(rounds, 5000))], pinned=True)

    return Experiment("Round trip with a partner that has waited", [run(t) for t in (5, 20, 50, 100, 1000)])


def collectives(ranks, seconds):
    def run(operation, size):
        where = {"operation": operation}
        words = ["--operations", operation, "--sizes", str(size), "--seconds", str(seconds)]
        label = operation if operation == "barrier" else f"{operation}, {size_name(size)}"
        return Run([Row(label, "time_us", "us", where)], ranks, "collectives", words, pinned=True)

    sizes = (8, 64, 1 << 10, 1 << 14, 1 << 18, 1 << 20)
    operations = ("bcast", "reduce", "allreduce", "allgather", "alltoall")
    runs = [run("barrier", 8), *(run(name, size) for name in operations for size in sizes)]
    return Experiment(f"Collectives, {ranks} ranks", runs)


def files():
    """Returns an experiment with each place in turn. Rates are compared with those that the same program reaches by itself."""
    def run(place, path, ranks, what, rows, *words):
        words = ["--what", what, "--file", path, *words]
        return Run([Row(f"{place}, {label}", key, unit, {"how": how}, more=unit != "us") for label, key, unit, how in rows],
                   ranks, "files", words)

    def beside_own(*names):
        return [(f"{name}{of}", key, unit, name) for name in names
                for key, unit, of in (("MBps", "MB/s", ""), ("over_own", "", ", of its own"))]

    blocks = [("pwrite", "MBps", "MB/s", "pwrite"), ("pread", "MBps", "MB/s", "pread"),
              *beside_own("write_at", "write_at_all", "read_at", "read_at_all")]
    runs = []
    for place, path in (("memory", "/dev/shm/heddle-bench-files"), ("disk", "/tmp/heddle-bench-files")):
        for ranks in (2, 8):
            rows = [(f"{ranks} ranks, blocks: {label}", *row) for label, *row in blocks]
            runs.append(run(place, path, ranks, "blocks", rows))
        for length in (64, 512, 4096):
            rows = [(f"8 ranks, array, runs of {length} B: {label}", *row)
                    for label, *row in beside_own("write_at_all", "read_at_all")]
            runs.append(run(place, path, 8, "cube", rows, "--bytes", "64M", "--run", str(length), "--repetitions", "3"))
        rows = [("8 ranks, open and close", "us", "us", "open_and_close"), ("8 ranks, a view of a million pieces", "us", "us", "set_view")]
        runs.append(run(place, path, 8, "open,view", rows))
        rows = [("1 rank, hidden beside 5 ms of computing: 8 MiB", "percent", "%", "hidden")]
        runs.append(run(place, path, 1, "overlap", rows))
    return Experiment("Files", runs, any_regime=True)


def regimes(seconds):
    """Returns experiments with one pair of ranks that have a core each, and with small collectives."""
    return {
        "sizes": lambda: [exchange("Half a round trip, buffers left alone", POWERS_OF_FOUR, seconds)],
        "written": lambda: [exchange("Half a round trip, buffers written before and read after",
                                     POWERS_OF_FOUR[1:], seconds, "--buffers", "written")],
        "windows": lambda: [exchange("A message in windows of 64", POWERS_OF_FOUR[:-2], seconds,
                                     "--window", "64")],
        "late": lambda: [late(seconds)],
        "processes": lambda: [new_processes()],
        "jobs": lambda: messages_of_two_jobs(seconds),
        "accumulates": accumulates,
        "collectives": lambda: [collectives(ranks, seconds) for ranks in (2, 4)],
    }


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


def new_processes():
    spawned = [Row("MPI_Comm_spawn of 2 from 1", "call_ms", "ms"),
               Row("both, MPI_Comm_spawn and MPI_Comm_disconnect", "both_ms", "ms"),
               Row("both, the first ten of 100", "first_ms", "ms"),
               Row("both, the last ten of 100", "last_ms", "ms")]
    met = [Row("MPI_Comm_connect of two jobs, the first time", "strangers_ms", "ms"),
           Row("MPI_Comm_connect of two jobs", "connect_ms", "ms"),
           Row("both, MPI_Comm_connect and MPI_Comm_disconnect", "connect_disconnect_ms", "ms")]
    runs = [Run(spawned, 1, "processes", ["--measure", "spawn"]),
            Run(met, 1, "processes", ["--measure", "connect", "--rounds", "20"])]
    return Experiment("New processes, and jobs that meet", runs, any_regime=True)


# The words of pingpong's --between, and the two processes that each means.
PAIRS = {"ranks": "two ranks", "jobs": "two jobs", "merged": "two jobs, merged"}


def between_jobs(title, sizes, seconds, *words):
    """Returns an experiment with equal messages between ranks of a world and processes of two jobs, each on a core."""
    def label(size, between):
        return f"{size_name(size)}, {PAIRS[between]}"

    def run(size, between):
        rows = [Row(label(size, between), "latency_us", "us", {"bytes": str(size)})]
        more = ["--between", between, *([] if between == "ranks" else ["--core", "1"])]
        return Run(rows, 2 if between == "ranks" else 1, "pingpong",
                   ["--sizes", str(size), "--seconds", str(seconds), *words, *more], pinned=True)

    derived = [(label(size, other) + " / ranks", label(size, other), label(size, "ranks"))
               for size in sizes for other in ("jobs", "merged")]
    return Experiment(title, [run(size, between) for size in sizes for between in PAIRS], derived)


def messages_of_two_jobs(seconds):
    sizes = (0, 64, 1 << 12, 1 << 16, 1 << 20)
    return [between_jobs("Half a round trip within a job and between jobs", sizes, seconds),
            between_jobs("A message in windows of 64 within a job and between jobs", sizes[:-1], seconds,
                         "--window", "64")]


def accumulates():
    """Returns experiments with one origin and several types and operations, with several origins, and with other windows."""
    sizes = (8, 128, 2 << 10, 32 << 10, 512 << 10, 4 << 20)

    def run(ranks, call, kind, op, window):
        label = f"{call}, {kind}, {op}"
        rows = [Row(f"{label}, {size_name(size)}", "call_us", "us", {"bytes": str(size)}) for size in sizes]
        return Run(rows, ranks, "accumulates", ["--call", call, "--type", kind, "--op", op, "--window", window])

    def of(title, ranks, window, calls):
        return Experiment(title, [run(ranks, *call, window) for call in calls], any_regime=True)

    every = [("accumulate", kind, op) for kind in ("char", "int", "double") for op in ("sum", "max", "replace")]
    few = [("accumulate", "double", "sum"), ("accumulate", "char", "sum"), ("get_accumulate", "double", "sum")]
    return [of("Accumulates of 1 rank", 2, "allocate", [*every, few[-1]]),
            of("Accumulates of 1 rank to memory of MPI_Win_create", 2, "create", few),
            of("Accumulates of 1 rank under exclusive locks", 2, "exclusive", few),
            of("Accumulates of 4 ranks", 5, "allocate", few)]


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
        "pingpong": lambda: [pingpong(args.seconds)],
        "latency": lambda: [latency(args.clients, args.seconds, args.brief)],
        "throughput": lambda: [throughput(pairs, args.seconds)],
        "wait": lambda: [wait_cost()],
        "startup": lambda: [startup()],
        "instructions": lambda: [instructions()],
    }
    everything = list(makers)
    makers |= regimes(args.seconds)
    makers["files"] = lambda: [files()]
    groups = {"pair": ["sizes", "written", "windows", "late", "collectives", "multirate"]}
    chosen = args.only.split(",") if args.only else everything
    chosen = [name for word in chosen for name in groups.get(word, [word])]
    unknown = set(chosen) - set(makers)
    if unknown:
        sys.exit(f"compare.py: --only knows {', '.join([*makers, *groups])}, not {', '.join(unknown)}")
    return [experiment for name in chosen for experiment in makers[name]()]

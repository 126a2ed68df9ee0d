#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the benchmarks for Heddle and for other MPI libraries, in turn, and print Markdown tables.

    compare.py --build build/release --peer mpich=PREFIX --peer openmpi-ucx=PREFIX ...

A peer is NAME=PREFIX, with PREFIX/bin/mpicc, mpicxx and mpiexec; NAME begins with one of mpich,
openmpi, openmpi-ucx, intel, which says how it is spoken to (peers.sh installs all three). The same
sources are built with each peer's own compiler wrappers.

Contestants take turns (A B C A B C ...), since a machine changes while one measures. Before and
after every figure the round trip of a cache line between the first two cores (line.c) tells the
regime: near, middle or far. Figures whose regime changed meanwhile are dropped, and medians are taken
within the one regime that all contestants have most figures of.
"""

import argparse
import collections
import dataclasses
import os
import pathlib
import re
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CXX_PROGRAMS = ("multirate", "pingpong", "latency_regime", "throughput_regime", "wait_cost")
SERVERS = ("any", "posted", "in-turn")
C_PROGRAMS = ("empty", "memory", "instructions")
NEAR_NS, MIDDLE_NS = 120, 350
RUN_TIMEOUT_S = 300
OTHERS_SHARE = 0.05  # of a core that other programs may take from a figure
TRIES, PATIENCE_S = 3, 15

OPENMPI = ["--oversubscribe", "--allow-run-as-root"]
OPENMPI_YIELD = ["--mca", "mpi_yield_when_idle", "1"]
UCX = ["--mca", "pml", "ucx", "--mca", "opal_common_ucx_tls", "any",
       "--mca", "opal_common_ucx_devices", "any"]


@dataclasses.dataclass
class Contestant:
    """An MPI library, or a yardstick program (which only knows pairs of threads)."""
    name: str
    launch: list = dataclasses.field(default_factory=list)
    env: dict = dataclasses.field(default_factory=dict)
    programs: pathlib.Path = None
    yardstick: str = None


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


@dataclasses.dataclass
class Figure:
    regime: str
    value: float


# ---------------------------------------------------------------- contestants


def peer(spec, waiting, scratch):
    """NAME=PREFIX as a contestant, its programs built."""
    name, _, prefix = spec.partition("=")
    if not prefix:
        sys.exit(f"compare.py: --peer wants NAME=PREFIX, not {spec}")
    prefix = pathlib.Path(prefix).resolve()
    yields = waiting == "yield"
    options, env = [], {}
    if name.startswith("openmpi"):
        options = OPENMPI + (OPENMPI_YIELD if yields else [])
        options += UCX if name.startswith("openmpi-ucx") else []
    elif name.startswith("intel"):
        env = {"I_MPI_ROOT": str(prefix), "I_MPI_FABRICS": "shm",
               "I_MPI_THREAD_YIELD": "2" if yields else "0"}
    elif not name.startswith("mpich"):
        sys.exit(f"compare.py: unknown peer {name}")
    programs = scratch / name
    build(prefix, programs, env)
    return Contestant(name, [str(prefix / "bin/mpiexec"), *options], env, programs)


def build(prefix, programs, env):
    programs.mkdir(parents=True, exist_ok=True)
    jobs = [("mpicxx", f"{p}.cpp", p, ["-std=c++20"]) for p in CXX_PROGRAMS]
    jobs += [("mpicc", f"{p}.c", p, []) for p in C_PROGRAMS]
    for wrapper, source, program, flags in jobs:
        subprocess.run([prefix / "bin" / wrapper, "-O3", "-w", "-pthread", *flags, HERE / source,
                        "-o", programs / program], check=True, env={**os.environ, **env})


def heddle(build_dir):
    """The library under construction, or None where it is not built."""
    places = [build_dir / place / "mpiexec" for place in ("cmd", "cmd/mpiexec", "bin")]
    found = [place for place in places if place.is_file()]
    if not found or not (build_dir / "bench/multirate").is_file():
        return None
    return Contestant("heddle", [str(found[0])], {}, build_dir / "bench")


def native(source, scratch):
    """Builds a program without MPI and returns its path."""
    compiler = ["c++", "-std=c++20"] if source.endswith(".cpp") else ["cc"]
    program = scratch / pathlib.Path(source).stem
    scratch.mkdir(parents=True, exist_ok=True)
    subprocess.run([*compiler, "-O3", "-pthread", HERE / source, "-o", program], check=True)
    return str(program)


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
                      [Run(rows, script="instructions.sh")], any_regime=True)


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
    if contestant.yardstick:
        return [contestant.yardstick, str(run.yardstick_pairs)] if run.yardstick_pairs else None
    if run.script == "startup.py":
        return [sys.executable, str(HERE / run.script), str(contestant.programs), "--",
                *contestant.launch]
    if run.script:
        return [str(HERE / run.script), str(contestant.programs / "instructions"),
                *contestant.launch]
    return [*contestant.launch, "-n", str(run.ranks), str(contestant.programs / run.program),
            *run.words]


def results_of(output):
    """The `result` lines as dictionaries; a yardstick's line as if Multirate had printed it."""
    results = [dict(word.split("=", 1) for word in line.split()[1:])
               for line in output.splitlines() if line.startswith("result ")]
    yardstick = re.search(r"pairs (\d+) rate ([\d.]+) M/s", output)
    if yardstick:
        results.append({"bench": "multirate", "rate": yardstick.group(2)})
    return results


def value_of(row, results):
    """The first result that has the row's key and all it asks for (None: any value)."""
    for result in results:
        if row.key in result and all(k in result and v in (None, result[k])
                                     for k, v in row.where.items()):
            return float(result[row.key])
    return None


def execute(argv, contestant):
    """What the command printed, or None after telling how it failed."""
    try:
        done = subprocess.run(argv, env={**os.environ, **contestant.env}, capture_output=True,
                              text=True, timeout=RUN_TIMEOUT_S, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        print(f"  {contestant.name}: no end within {RUN_TIMEOUT_S} s", file=sys.stderr)
        return None
    if done.returncode == 0:
        return done.stdout
    last = (done.stderr.strip().splitlines() or ["(no message)"])[-1]
    print(f"  {contestant.name}: exit {done.returncode}: {last}", file=sys.stderr)
    return None


class Machine:
    """What the machine does besides: its regime, and the time that others take from it."""

    def __init__(self, line):
        self.line = line
        self.seen_ns = []
        self.disturbed = 0

    def regime(self):
        ns = float(subprocess.run([self.line], check=True, capture_output=True, text=True).stdout)
        self.seen_ns.append(ns)
        return "near" if ns <= NEAR_NS else "middle" if ns <= MIDDLE_NS else "far"

    def alone(self, work):
        """Does the work again, a few times at most, while other programs took part of the time."""
        for _ in range(TRIES):
            begin, busy, ours = time.monotonic(), busy_seconds(), children_seconds()
            result = work()
            others = busy_seconds() - busy - (children_seconds() - ours)
            if others <= OTHERS_SHARE * (time.monotonic() - begin) + 0.03:
                return result
            wait_for_quiet()
        self.disturbed += 1
        return result


def busy_seconds():
    """CPU time of all programs of the machine since its start."""
    words = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return sum(map(int, words[1:4])) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def wait_for_quiet():
    """Until nothing else runs; after a while, regardless."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        busy = busy_seconds()
        time.sleep(0.5)
        if busy_seconds() - busy <= OTHERS_SHARE * 0.5 + 0.03:
            return


def figure(argv, contestant, machine):
    """The regime in which a command ran, and its results."""
    before = machine.regime()
    output = machine.alone(lambda: execute(argv, contestant))
    regime = before if machine.regime() == before else "changing"
    return regime, results_of(output or "")


def measure(experiment, contestants, rounds, machine):
    """All figures: (row label, contestant) -> [Figure]."""
    figures = collections.defaultdict(list)
    for turn in range(rounds):
        print(f"{experiment.title}: round {turn + 1} of {rounds}", file=sys.stderr)
        for run in experiment.runs:
            for contestant in contestants:
                argv = command(run, contestant)
                if argv is None:
                    continue
                regime, results = figure(argv, contestant, machine)
                for row in run.rows:
                    value = value_of(row, results)
                    if value is not None:
                        figures[row.label, contestant.name].append(Figure(regime, value))
    return figures


# ---------------------------------------------------------------- reporting


def common_regime(figures):
    """The regime in which the poorest cell has most figures, and how many that cell has."""
    def least(regime):
        return min(sum(f.regime == regime for f in cell) for cell in figures.values())

    if not figures:
        return "none", 0
    best = max(("near", "middle", "far"), key=least)
    return best, least(best)


def medians(figures, any_regime):
    """Median of each cell within the common regime, and a sentence that says which one."""
    if any_regime:
        cells = {at: statistics.median(f.value for f in cell) for at, cell in figures.items()}
        return cells, "Any regime"
    regime, count = common_regime(figures)
    if count == 0:
        cells = {at: statistics.median(f.value for f in cell) for at, cell in figures.items()}
        return cells, "**no regime common to all: not comparable**"
    cells = {at: statistics.median(f.value for f in cell if f.regime == regime)
             for at, cell in figures.items()}
    total = sum(len(cell) for cell in figures.values())
    kept = sum(f.regime == regime for cell in figures.values() for f in cell)
    return cells, f"Regime {regime}, {kept} of {total} figures, at least {count} each"


def number(value):
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.1f}"


def cell_text(cells, label, name, first):
    """The median; behind it, in brackets, the first contestant's value over this one."""
    value = cells.get((label, name))
    if value is None:
        return "–"
    reference = cells.get((label, first))
    if name == first or not reference or not value:
        return number(value)
    return f"{number(value)} ({reference / value:.2f})"


def table(experiment, figures, contestants):
    cells, note = medians(figures, experiment.any_regime)
    names = [c.name for c in contestants if any(name == c.name for _, name in figures)]
    rows = [row for run in experiment.runs for row in run.rows]
    lines = [f"### {experiment.title}", "", f"{note}.", "",
             "| | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for row in rows:
        label = f"{row.label} [{row.unit}]" if row.unit else row.label
        texts = [cell_text(cells, row.label, name, contestants[0].name) for name in names]
        lines.append(f"| {label} | " + " | ".join(texts) + " |")
    for label, above, below in experiment.derived:
        texts = []
        for name in names:
            top, bottom = cells.get((above, name)), cells.get((below, name))
            texts.append(f"{top / bottom:.2f}" if top and bottom else "–")
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


def hardware():
    model = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} cores, {model.group(1) if model else os.uname().machine}"


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
        ours = heddle(args.build.resolve())
        if ours:
            contestants.append(ours)
        else:
            print(f"compare.py: no Heddle in {args.build}: peers only", file=sys.stderr)
    contestants += [peer(spec, args.waiting, scratch) for spec in args.peer]
    if not contestants:
        sys.exit("compare.py: nothing to measure: give --build, --peer or both")
    contestants.append(Contestant("ring", yardstick=native("ring.cpp", scratch)))
    if args.yardstick:
        contestants.append(Contestant("yardstick", yardstick=os.path.abspath(args.yardstick)))
    return contestants


def main():
    args = arguments()
    chosen = experiments(args)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        contestants = find_contestants(args, scratch)
        machine = Machine(native("line.c", scratch))
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
        sys.exit(130)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"compare.py: {error}")

# SPDX-License-Identifier: BSD-3-Clause
"""Amer et al.: locks of one communication path that all threads share.

The recipes have one instance behind one global critical section, as MPICH 3.2 has one path behind one
lock. P-X-Y is the two-level priority lock: X for the main path, Y for the progress path.

The strengths and weaknesses of HMCS show on machines of many cores in several groups. bench/micro/lock_simulation
has the same protocols on a simulated one.

The proxy application of section 7, SNAP, is represented by a sweep of the same structure, in Fortran (sweep/).
"""

from __future__ import annotations

import dataclasses

from laboratory.figure import At, Claim, End, Figure, Metric, Paper, Series, Who
from laboratory.machine import cores
from laboratory.readings import Result

THREADS = (1, 2, 4, 8, 16, 24, 32, 46, 68, 88)
SIZES = (1, 16, 64, 256, 1024, 4096, 8192, 16384, 65536)
EVERY_CORE = str(max(8, cores()))  # threads at full concurrency, at least enough for contention

TIMES = ("--seconds", "{seconds}", "--repetitions", "{repetitions}")
LATENCY_WORDS = ("--server", "any", "--calls", "nonblocking", *TIMES)

ONE_WAY = Metric("one_way", "latency", "us", Result("one_way_us"), log=True)
FAIRNESS = Metric("slowest", "rate of the slowest thread over the mean", "", Result("slowest"))
RATE = Metric("rate", "message rate", "M/s", Result("rate"))
MAIN = Metric("main", "main path: productive operations for each acquisition", "",
              Result("main_efficiency"))
PROGRESS = Metric("progress", "progress path: productive operations for each acquisition", "",
                  Result("progress_efficiency"))
PATHS = (MAIN, PROGRESS)


def lock(name: str) -> Series:
    """Returns a series with that lock. The knob's value is its name in small letters."""
    return Series(name, environment={"HEDDLE_INSTANCES": "1", "HEDDLE_CRITICAL_SECTION": "global",
                                     "HEDDLE_LOCK": name.lower()})


def locks(*names: str) -> tuple[Series, ...]:
    return tuple(lock(name) for name in names)


FLAT = locks("Mutex", "MCS", "HMCS")
PRIORITY = locks("MCS", "HMCS", "P-MCS-MCS", "P-HMCS-MCS", "P-MCS-HMCS", "P-HMCS-HMCS")
ALL_LOCKS = (FLAT[0], *PRIORITY)
AS_IT_COMES = Series("as it comes", who=Who.ALL)


def over(words: str, above: str, below: str, **limits) -> Claim:
    return Claim(words, At(above), At(below), **limits)


def latency(number: str, title: str, summary: str, metrics: tuple[Metric, ...],
            series: tuple[Series, ...], claims: tuple[Claim, ...]) -> Figure:
    return Figure(
        id=f"p2-{number}", number=f"figure {number}", title=title, summary=summary,
        program="latency_regime", words=("--clients", "{x}", *LATENCY_WORDS),
        x_label="client threads", xs=THREADS, metrics=metrics, series=series, claims=claims, x_log=True)


def throughput(number: str, title: str, summary: str, metrics: tuple[Metric, ...],
               series: tuple[Series, ...], claims: tuple[Claim, ...]) -> Figure:
    return Figure(
        id=f"p2-{number}", number=f"figure {number}", title=title, summary=summary,
        program="throughput_regime", words=("--threads", "{x}", *TIMES),
        x_label="threads in each process", xs=THREADS, metrics=metrics, series=series, claims=claims,
        x_log=True)


def passing(name: str) -> Series:
    """Returns a series of a lock by itself."""
    return Series(name, words=("--lock", name.lower()))


FIGURE_2A = Figure(
    id="p2-2a", number="figure 2a", title="passing a lock on, without MPI",
    summary="Threads that want a lock all the time, and write to 10 random cache lines while they have it. "
            "Locks differ by much, and HMCS, which passes the lock on among neighbours, is the fastest: "
            "which makes figure 2b, where it is the slowest, so surprising.",
    program="locks", subcommand=True, words=("--threads", "{x}", *TIMES), x_label="threads", xs=THREADS,
    metrics=(Metric("passing", "time to pass the lock on", "ns", Result("passing_ns"), log=True), FAIRNESS),
    series=tuple(map(passing, ("Mutex", "Ticket", "MCS", "HMCS", "P-MCS-MCS", "P-HMCS-MCS"))),
    claims=(Claim("HMCS is passed on faster than MCS.", At("HMCS"), At("MCS"), most=0.95),
            Claim("With MCS, passing takes longer among many threads than for one.", At("MCS"),
                  At("MCS", End.FIRST), least=1.5),
            Claim("A lock that is fair to all gives each the same.", At("MCS"), least=0.8, metric=FAIRNESS.key)),
    x_log=True)

FIGURE_2B = latency(
    "2b", "latency of 64 B between a server and n client threads",
    "Latency grows with the number of threads, by two orders of magnitude, and the more so the faster the "
    "lock is passed on: HMCS, the fastest lock by itself, is the worst here.",
    (ONE_WAY, FAIRNESS), (*FLAT, AS_IT_COMES),
    (over("HMCS is worse than MCS.", "HMCS", "MCS", least=1.1),
     Claim("With MCS, latency grows with the number of threads.", At("MCS"), At("MCS", End.FIRST),
           least=4),
     over("Here: the default is better than any lock.", "as it comes", "MCS", most=1),
     Claim("Here: with the default, latency stays below 8 times that of one thread.", At("as it comes"),
           At("as it comes", End.FIRST), most=8),
     Claim("Here: and no thread starves.", At("as it comes"), least=0.5, metric=FAIRNESS.key)))

FIGURE_3 = latency(
    "3", "path efficiency in the latency regime, on the client's side",
    "The main path does not care for threads or locks. On the progress path most acquisitions are in vain, "
    "most of all with HMCS, which passes the lock among neighbours that wait for something else.",
    PATHS, FLAT,
    (Claim("The main path is as efficient with many threads as with few.", At("MCS"),
           At("MCS", End.FIRST), least=0.8, most=1.25, metric=MAIN.key),
     Claim("The progress path loses efficiency with the number of threads.", At("MCS"), At("MCS", 2),
           most=0.8, metric=PROGRESS.key),
     over("On the progress path HMCS is worse than MCS.", "HMCS", "MCS", most=0.9,
          metric=PROGRESS.key)))

FIGURE_4 = throughput(
    "4", "path efficiency in the throughput regime, at the sink",
    "HMCS has the highest efficiency on both paths, though all lose with the number of threads.",
    PATHS, FLAT,
    (over("On the main path HMCS is at least as efficient as MCS.", "HMCS", "MCS", least=1,
          metric=MAIN.key),
     over("On the progress path HMCS is more efficient than MCS.", "HMCS", "MCS", least=1.1,
          metric=PROGRESS.key)))

FIGURE_6A = latency(
    "6a", "path efficiency in the latency regime, with two priorities",
    "A lock with HMCS on the progress path is the worst, and one with MCS there the best; priorities "
    "improve on the flat MCS.",
    PATHS, PRIORITY,
    (over("HMCS on the progress path is worse than MCS there.", "P-HMCS-HMCS", "P-HMCS-MCS",
          most=0.9, metric=PROGRESS.key),
     over("P-MCS-MCS is better than MCS.", "P-MCS-MCS", "MCS", least=1.05, metric=PROGRESS.key)))

FIGURE_6B = throughput(
    "6b", "path efficiency in the throughput regime, with two priorities",
    "HMCS on the main path has the best efficiency, MCS there the worst on the main path.",
    PATHS, PRIORITY,
    (over("On the main path P-HMCS-MCS is better than P-MCS-MCS.", "P-HMCS-MCS", "P-MCS-MCS", least=1,
          metric=MAIN.key),
     over("On the progress path P-HMCS-MCS is better than P-MCS-MCS.", "P-HMCS-MCS", "P-MCS-MCS",
          least=1, metric=PROGRESS.key)))

FIGURE_7A = throughput(
    "7a", "message rate of 64 B by number of threads",
    "Locks with HMCS on the main path are best, about twice as fast as P-MCS-MCS.",
    (RATE,), (*ALL_LOCKS, AS_IT_COMES),
    (over("P-HMCS-MCS is about twice as fast as P-MCS-MCS.", "P-HMCS-MCS", "P-MCS-MCS", least=1.5),
     over("P-HMCS-MCS is as fast as HMCS.", "P-HMCS-MCS", "HMCS", least=0.8),
     Claim("P-HMCS-MCS loses less than half from 2 threads on.", At("P-HMCS-MCS"),
           At("P-HMCS-MCS", 2), least=0.5),
     over("Here: the default is faster than any lock.", "as it comes", "P-HMCS-MCS", least=1)))

FIGURE_7B = latency(
    "7b", "latency of 64 B by number of threads",
    "Locks with MCS on the progress path are best. Even with the best one latency grows by more than 8 "
    "times from 2 threads to 88: whoever gets the lock must be the one whose message has come.",
    (ONE_WAY, FAIRNESS), (*ALL_LOCKS, AS_IT_COMES),
    (over("MCS on the progress path is better than HMCS there.", "P-HMCS-MCS", "P-HMCS-HMCS",
          most=0.9),
     over("P-HMCS-MCS is as good as MCS.", "P-HMCS-MCS", "MCS", most=1.2),
     over("Priorities improve on the flat MCS.", "P-MCS-MCS", "MCS", most=0.95),
     Claim("Here: the default loses less than 8 times from 2 threads on.", At("as it comes"),
           At("as it comes", 2), most=8),
     over("Here: the default is better than any lock.", "as it comes", "P-HMCS-MCS", most=1)))


def by_size(number: str, program: str, words: tuple[str, ...], metric: Metric, title: str,
            summary: str, claims: tuple[Claim, ...]) -> Figure:
    return Figure(
        id=f"p2-{number}", number=f"figure {number}", title=f"{title} ({EVERY_CORE} threads)",
        summary=summary, program=program, words=("--size", "{x}", *words), x_label="bytes", xs=SIZES,
        metrics=(metric,), series=(*ALL_LOCKS, AS_IT_COMES), claims=claims, x_log=True,
        follows_cores=False)


def at_size(words: str, above: str, below: str, size: int, **limits) -> Claim:
    return Claim(words, At(above, size), At(below, size), **limits)


FIGURE_8A = by_size(
    "8a", "throughput_regime", ("--threads", EVERY_CORE, *TIMES), RATE,
    "message rate by size at full concurrency",
    "Below 8 KiB locks matter; above, moving data takes the time.",
    (at_size("At 64 B P-HMCS-MCS is faster than P-MCS-MCS.", "P-HMCS-MCS", "P-MCS-MCS", 64, least=1.2),
     at_size("At 64 KiB it hardly matters.", "P-HMCS-MCS", "P-MCS-MCS", 65536, least=0.8, most=1.25)))

FIGURE_8B = by_size(
    "8b", "latency_regime", ("--clients", EVERY_CORE, *LATENCY_WORDS), ONE_WAY,
    "latency by size at full concurrency",
    "HMCS on the progress path is worse at every size; among the others little difference is left above "
    "8 KiB.",
    (at_size("At 64 B HMCS on the progress path is worse.", "P-HMCS-HMCS", "P-HMCS-MCS", 64, least=1.1),
     at_size("At 64 KiB it still is.", "P-HMCS-HMCS", "P-HMCS-MCS", 65536, least=1.05),
     at_size("At 64 KiB MCS and P-HMCS-MCS are equal.", "P-HMCS-MCS", "MCS", 65536, least=0.8,
             most=1.25)))

SWEEP = ("nx=32", "ny=16", "nz=16", "chunk=4", "angles=8", "groups=32", "iterations=2")
SWEEP_TIME = Metric("sweep", "time of a sweep", "s", Result("seconds"), log=True)


def sweep(series: Series, ranks: int) -> Series:
    return dataclasses.replace(series, name=f"{series.name}, {ranks} ranks", ranks=ranks)


FIGURE_SNAP = Figure(
    id="p2-snap", number="figure 9", title="a transport sweep whose threads all communicate",
    summary="Ranks share out y and z, threads energy groups; every thread receives and sends the faces of its own "
            "groups. Fewer ranks of more threads wait for locks: priorities give back a part of it.",
    program="sweep", words=("threads={x}", *SWEEP), x_label="threads in each process", xs=(1, 2, 4, 8, 16, 32),
    metrics=(SWEEP_TIME,),
    series=tuple(sweep(series, ranks) for ranks in (2, 4) for series in (*ALL_LOCKS, AS_IT_COMES)),
    claims=(over("P-HMCS-MCS is faster than the mutex.", "P-HMCS-MCS, 2 ranks", "Mutex, 2 ranks", most=0.95),
            over("Here: the default is as fast as any lock.", "as it comes, 2 ranks", "P-HMCS-MCS, 2 ranks", most=1.05)),
    x_log=True)

RMA_BATCH = 64  # operations of a thread before a flush


def one_sided(series: Series, flush: str) -> Series:
    by = "one flushes" if flush == "one" else "each flushes"
    return dataclasses.replace(series, name=f"{series.name}, {by}", words=("--flush", flush), dashed=flush == "each")


FIGURE_RMA = Figure(
    id="p2-rma", number="section 5.2", title="one-sided operations of threads, completed by one or by each",
    summary=f"Threads of one process put 8 bytes to places of their own in a window of another process, {RMA_BATCH} "
            "times before a flush. The paper has words and no numbers: completed by one thread, it is the throughput "
            "regime; completed by each, a flush waits for what others issue meanwhile.",
    program="rma", words=("--measure", "rate", "--threads", "{x}", "--rounds", "20000", "--batch", str(RMA_BATCH),
                          "--repetitions", "{repetitions}"),
    x_label="threads", xs=THREADS[:6], metrics=(Metric("rate", "rate of operations", "M/s", Result("rate")),),
    series=tuple(one_sided(series, flush) for flush in ("one", "each")
                 for series in (*locks("Mutex", "MCS", "HMCS", "P-MCS-MCS", "P-HMCS-MCS"), AS_IT_COMES)),
    claims=(over("Where one thread completes, HMCS for those who issue is best.", "P-HMCS-MCS, one flushes",
                 "P-MCS-MCS, one flushes", least=1),
            over("Where each thread completes its own, the rate collapses.", "MCS, each flushes", "MCS, one flushes",
                 most=0.9),
            over("Here: the default is faster than any lock.", "as it comes, each flushes", "Mutex, each flushes",
                 least=1),
            Claim("Here: and threads that flush do not wait for each other.", At("as it comes, each flushes"),
                  At("as it comes, each flushes", End.FIRST), least=0.9)),
    x_log=True)

PAPER = Paper(
    id="p2", title="Lock Contention Management in Multithreaded MPI",
    authors="Amer, Lu, Balaji, Chabbi, Wei, Hammond, Matsuoka",
    figures=(FIGURE_2A, FIGURE_2B, FIGURE_3, FIGURE_4, FIGURE_6A, FIGURE_6B, FIGURE_7A, FIGURE_7B, FIGURE_8A,
             FIGURE_8B, FIGURE_SNAP, FIGURE_RMA))

# SPDX-License-Identifier: BSD-3-Clause
"""Balaji et al.: n senders, each with a single-threaded receiver of its own.

In the paper, Per Object locks connections, which are the outboxes of instances here. Each sender has a tag of
its own, so that senders share no outbox, as in the paper.
"""

from __future__ import annotations

from laboratory.figure import At, Claim, End, Figure, Metric, Paper, Series, Who
from laboratory.readings import Result

SENDERS = (1, 2, 3, 4, 6, 8, 16, 32, 64)


def granularity(section: str, pools: str = "common", counts: str = "locked") -> dict[str, str]:
    recipe = {"HEDDLE_CRITICAL_SECTION": section, "HEDDLE_LOCK": "mutex"}
    if section == "global":  # its lock protects pools and counts, too
        return recipe
    return {**recipe, "HEDDLE_REQUEST_POOLS": pools, "HEDDLE_REFERENCE_COUNTS": counts}


GLOBAL = granularity("global")
BRIEF_GLOBAL = granularity("brief-global")
PER_OBJECT = granularity("per-object")
PER_OBJECT_TLP = granularity("per-object", pools="thread")
PER_OBJECT_TLP_ATOM = granularity("per-object", pools="thread", counts="atomic")

RATE = Metric("rate", "message rate of all senders", "M/s", Result("rate"))
WAIT = Metric("lock_wait", "a thread's lock wait in 128 sends", "us",
              Result("lock_wait_us"))
WAIT_MOST = Metric("lock_wait_most", "lock wait of the thread that waits most", "us", Result("lock_wait_most_us"))
WAIT_LEAST = Metric("lock_wait_least", "lock wait of the thread that waits least", "us",
                    Result("lock_wait_least_us"))
WAITS = (WAIT, WAIT_MOST, WAIT_LEAST)
ACQUISITIONS = Metric("acquisitions", "lock acquisitions for each send", "", Result("acquisitions"),
                      any_regime=True)


def threads(name: str, recipe: dict[str, str], receivers: bool, tag: str = "own",
            who: Who = Who.HEDDLE) -> Series:
    return Series(name, ("--mode", "threads", "--tag", tag), recipe, ranks=1,
                  ranks_per_x=int(receivers), who=who)


def processes(receivers: bool) -> Series:
    return Series("processes", ("--mode", "processes"), ranks=0, ranks_per_x=2 if receivers else 1,
                  dashed=True, who=Who.ALL)


def rates(number: str, numbers: str, operation: str, title: str, summary: str,
          recipes: dict[str, dict[str, str]], claims: tuple[Claim, ...]) -> Figure:
    receivers = operation != "null"
    series = [processes(receivers), threads("threads", {}, receivers, who=Who.ALL)]
    if receivers:
        series.append(threads("threads that share a tag", {}, receivers, tag="one"))
    series += [threads(name, recipe, receivers) for name, recipe in recipes.items()]
    here = Claim("Here: threads are as fast as processes.", At("threads"), At("processes"), least=0.8)
    return Figure(
        id=f"p3-{number}", number=numbers, title=title, summary=summary, program="fan_rate",
        words=("--operation", operation, "--senders", "{x}", "--seconds", "{seconds}",
               "--repetitions", "{repetitions}"),
        x_label="senders", xs=SENDERS, metrics=(RATE, *WAITS), series=tuple(series), claims=(*claims, here),
        x_log=True)


def scaling(words: str, series: str, least: float | None = None, most: float | None = None) -> Claim:
    """Returns a claim about the rate of all senders over that of one."""
    return Claim(words, At(series), At(series, End.FIRST), least=least, most=most)


NULL = rates(
    "3", "figures 3/4", "null", "sending to MPI_PROC_NULL",
    "What threads cost where nothing is shared: with Global every call takes the lock, and the rate "
    "falls; with Brief Global no lock is taken, and threads are as fast as processes.",
    {"Global": GLOBAL, "Brief Global": BRIEF_GLOBAL},
    (Claim("Brief Global is as fast as processes.", At("Brief Global"), At("processes"), least=0.8),
     Claim("Global is far behind.", At("Global"), At("Brief Global"), most=0.5),
     scaling("With Global, more threads are no faster than one.", "Global", most=1.1),
     Claim("With Brief Global no thread waits for a lock.", At("Brief Global"), most=0.1,
           metric=WAIT.key),
     Claim("With Global, threads wait the longer the more there are.", At("Global"),
           At("Global", 2), least=1, metric=WAIT.key)))

BLOCKING = rates(
    "5", "figures 5/6", "blocking", "blocking sends, 0 B",
    "Brief Global is as slow as Global, since communication is one long critical section; Per Object "
    "locks the connection, which no two threads share, and comes close to processes.",
    {"Global": GLOBAL, "Brief Global": BRIEF_GLOBAL, "Per Object": PER_OBJECT},
    (Claim("Per Object comes close to processes.", At("Per Object"), At("processes"), least=0.7),
     Claim("Per Object is faster than Global.", At("Per Object"), At("Global"), least=1.2),
     Claim("Brief Global is as slow as Global.", At("Brief Global"), At("Global"), most=1.2),
     Claim("With Global, threads wait the longer the more there are.", At("Global"),
           At("Global", 2), least=1, metric=WAIT.key),
     Claim("With Per Object they hardly wait.", At("Per Object"), At("Global"), most=0.2,
           metric=WAIT.key)))

NONBLOCKING = rates(
    "7", "figures 7/8", "nonblocking", "nonblocking sends, 0 B",
    "Requests come from a common pool and count references: Per Object gains little beyond two threads. "
    "A pool for each thread (tlp) helps a little, atomic reference counts (atom) let it scale, "
    "though not as far as processes. Brief Global waits longest: eight acquisitions for each send.",
    {"Global": GLOBAL, "Brief Global": BRIEF_GLOBAL, "Per Object": PER_OBJECT,
     "Per Object tlp": PER_OBJECT_TLP, "Per Object tlp atom": PER_OBJECT_TLP_ATOM},
    (Claim("Pools for each thread and atomic counts are faster than Per Object alone.",
           At("Per Object tlp atom"), At("Per Object"), least=1.1),
     Claim("Pools for each thread alone help only a little.", At("Per Object tlp"),
           At("Per Object"), least=1, most=1.5),
     scaling("With both, the rate grows with the threads.", "Per Object tlp atom", least=1.2),
     Claim("It stays below processes.", At("Per Object tlp atom"), At("processes"), most=1),
     Claim("Threads wait longer with Brief Global than with Global.", At("Brief Global"),
           At("Global"), least=1, metric=WAIT.key),
     Claim("With pools for each thread and atomic counts they wait least.",
           At("Per Object tlp atom"), At("Per Object"), most=1, metric=WAIT.key)))


def acquisitions(series: str, null: int, blocking: int, nonblocking: int) -> list[Claim]:
    """Returns the claims of a row of the paper's table."""
    row = {"null": null, "blocking": blocking, "nonblocking": nonblocking}
    return [Claim(f"{series}, {operation}: {number} for each send.", At(series, operation),
                  least=number - 0.05 if number else None, most=number + 0.05) for operation, number in row.items()]


ROWS = {"Global": GLOBAL, "Brief Global": BRIEF_GLOBAL, "Per Object": PER_OBJECT,
        "Per Object tlp": PER_OBJECT_TLP, "Per Object tlp atom": PER_OBJECT_TLP_ATOM,
        "lock-free": {}}

TABLE_1 = Figure(
    id="p3-t1", number="table 1", title="acquisitions of locks for each send",
    summary="One thread sends; acknowledgements are left out. Smaller critical sections are entered more "
            "often, until requests and reference counts need no lock. Lock Free, the paper's future work, "
            "is Heddle's default.",
    program="fan_rate",
    words=("--operation", "{x}", "--senders", "1", "--seconds", "{seconds}", "--repetitions", "1"),
    x_label="operation", xs=("null", "blocking", "nonblocking"), metrics=(ACQUISITIONS,),
    series=tuple(Series(name, (), recipe) for name, recipe in ROWS.items()),
    claims=(*acquisitions("Global", 1, 1, 1), *acquisitions("Brief Global", 0, 1, 8),
            *acquisitions("Per Object", 0, 1, 8), *acquisitions("Per Object tlp", 0, 1, 6),
            *acquisitions("Per Object tlp atom", 0, 1, 2), *acquisitions("lock-free", 0, 0, 0)),
    follows_cores=False)

PAPER = Paper(
    id="p3", title="Fine-Grained Multithreading Support for Hybrid Threaded MPI Programming",
    authors="Balaji, Buntinas, Goodell, Gropp, Thakur", figures=(NULL, BLOCKING, NONBLOCKING, TABLE_1))

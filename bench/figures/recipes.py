# SPDX-License-Identifier: BSD-3-Clause
"""The default recipe against the others (docs/TOOLS.md), in throughput and in latency.

The figures come from no paper: they show what the designs of P1 to P4 cost on the library that has them all. Each
recipe differs from the default one in what its name says, and in nothing else.
"""

from __future__ import annotations

from laboratory.figure import At, Claim, Figure, Metric, Paper, Series
from laboratory.readings import Result

THREADS = (1, 2, 4, 8)
SIZES = (1, 64, 4096, 65536)
TIMES = ("--seconds", "{seconds}", "--repetitions", "{repetitions}")

DEFAULT = "default"
RATE = Metric("rate", "message rate", "M/s", Result("rate"))
SERVED = Metric("one_way", "latency: half the time from one answer to the next", "us",
                Result("one_way_us"), log=True)
ROUND_TRIP = Metric("round_trip", "round trip, mean of the threads", "us", Result("round_trip_us"), log=True)
FAIRNESS = Metric("slowest", "rate of the slowest thread over the mean", "", Result("slowest"))
HALF_TRIP = Metric("half_trip", "half a round trip", "us", Result("latency_us"), log=True)


def section(granularity: str, lock: str) -> dict[str, str]:
    return {"HEDDLE_CRITICAL_SECTION": granularity, "HEDDLE_LOCK": lock}


RECIPES = {
    DEFAULT: {},
    "one instance": {"HEDDLE_INSTANCES": "1"},
    "by communicator": {"HEDDLE_ASSIGNMENT": "communicator"},
    "dedicated": {"HEDDLE_ASSIGNMENT": "dedicated"},
    "round-robin": {"HEDDLE_ASSIGNMENT": "round-robin"},
    "serial progress": {"HEDDLE_PROGRESS": "serial"},
    "list": {"HEDDLE_MATCHER": "list"},
    "source": {"HEDDLE_MATCHER": "source"},
    "one list": {"HEDDLE_INSTANCES": "1", "HEDDLE_MATCHER": "list"},
    **{f"global, {lock}": section("global", lock)
       for lock in ("mutex", "ticket", "mcs", "hmcs", "p-hmcs-mcs")},
    "brief global, mutex": section("brief-global", "mutex"),
    "brief global, p-mcs-mcs": section("brief-global", "p-mcs-mcs"),
    "per object, mutex": section("per-object", "mutex"),
    "per object, ticket": section("per-object", "ticket"),
}
SERIES = tuple(Series(name, environment=recipe) for name, recipe in RECIPES.items())


def claims(**limits: float) -> tuple[Claim, ...]:
    """Returns a claim about each other recipe over the default one."""
    return tuple(Claim(f"The default is as good as {name}.", At(name), At(DEFAULT), **limits)
                 for name in RECIPES if name != DEFAULT)


RATES = Figure(
    "recipes-rate", "rate", "message rate of pairs of threads",
    "Two processes; each thread of one sends to a thread of the other, with a tag of its own, 0 B.",
    program="multirate", words=("--pairs", "{x}", *TIMES), x_label="pairs of threads", xs=THREADS,
    metrics=(RATE,), series=SERIES, claims=claims(most=1.05), x_log=True)


def latency(id: str, server: str, waits: str) -> Figure:
    return Figure(
        id, f"latency/{server}", "round trip between a server and client threads",
        "Each client thread sends 64 B, with a tag of its own, and waits for the answer of a server that "
        f"has one thread, which waits {waits}. Latency as in P2 is that of all; where a thread is served "
        "less than others, the mean of the threads' round trips shows it.",
        program="latency_regime", words=("--clients", "{x}", "--server", server, *TIMES),
        x_label="client threads", xs=THREADS, metrics=(SERVED, ROUND_TRIP, FAIRNESS), series=SERIES,
        claims=claims(least=0.95), x_log=True)


LATENCY = latency("recipes-latency", "any", "in MPI_Recv for anything")
LATENCY_POSTED = latency("recipes-posted", "posted", "in MPI_Waitany with a receive posted for each client")

PING_PONG = Figure(
    "recipes-pingpong", "ping-pong", "half a round trip between two processes by size",
    "One thread in each process, under MPI_THREAD_MULTIPLE.",
    program="pingpong", words=("--sizes", "{x}", *TIMES), x_label="bytes", xs=SIZES, metrics=(HALF_TRIP,),
    series=SERIES, claims=claims(least=0.95), x_log=True, follows_cores=False)

PAPER = Paper(
    id="recipes", title="Recipes: the default and the others", authors="no paper",
    figures=(RATES, LATENCY, LATENCY_POSTED, PING_PONG))

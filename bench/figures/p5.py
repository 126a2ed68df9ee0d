# SPDX-License-Identifier: BSD-3-Clause
"""P5: communication that goes on while the program computes, and what single blocking calls take.

The paper compares a library that has a worker thread with the same without, over TCP. Here other libraries, which have
none, take part beside Heddle with its defaults. They run over TCP between two hosts (tools/hosts.py), and on one node. The
paper computes for 2 s. Here it is 5 ms, in which any of these messages could be carried.
"""

from __future__ import annotations

from laboratory.figure import At, Claim, End, Figure, Metric, Paper, Series, Who
from laboratory.readings import Result

SHORT = (10, 100, 1 << 10, 10 << 10)
LONG = (64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20, 8 << 20)
TIMES = ("--seconds", "{seconds}", "--repetitions", "{repetitions}")


def metric(key: str, label: str, unit: str = "us", budget: float | None = None) -> Metric:
    return Metric(key, label, unit, Result(key), log=unit == "us", budget=budget)


def everywhere(*ways: tuple[str, tuple[str, ...], str]) -> tuple[Series, ...]:
    """Returns series over TCP and on one node, both in the colour that `ways` has for them."""
    return tuple(Series(f"{place}, {name}", words, who=Who.ALL, hosts=hosts, colour=colour, dashed=hosts == 1)
                 for name, words, colour in ways for place, hosts in (("TCP", 2), ("one node", 1)))


def figure(id_: str, number: str, title: str, summary: str, program: str, xs: tuple, metrics: tuple,
           series: tuple[Series, ...], claims: tuple[Claim, ...]) -> Figure:
    return Figure(f"p5-{id_}", number, title, summary, program, "bytes", xs, metrics, series, claims,
                  words=("--sizes", "{x}", *TIMES), x_log=True, follows_cores=False)


OVERLAP = (*everywhere(("sender computes", ("--computing", "sender"), "tab:blue"),
                       ("both compute", ("--computing", "both"), "tab:orange")),
           Series("one node with a worker, both compute", ("--computing", "both"), environment={"HEDDLE_WORKER": "on"},
                  colour="tab:green", dashed=True))


def here(series: str, x) -> Claim:
    """Returns a claim that this project makes, not the paper."""
    return Claim(f"Here, {series}: the wait takes 10 us at most.", At(series, x), most=10, metric="wait_us")


TABLE_1 = figure(
    "t1", "table 1", "MPI_Isend, computing, MPI_Wait",
    "With a worker the message goes while the program computes, and MPI_Wait finds it gone; without one most of a long message is "
    "left for MPI_Wait. The receive was posted before. Shaded: more than 10 us in MPI_Wait.",
    "overlap", SHORT + LONG,
    (metric("wait_us", "MPI_Wait of the sender", budget=10), metric("isend_us", "MPI_Isend"),
     metric("receiver_wait_us", "MPI_Wait of the receiver"),
     metric("slowdown", "computing of the sender, over that alone", ""),
     metric("receiver_slowdown", "computing of the receiver, over that alone", "")),
    OVERLAP,
    (Claim("MPI_Wait takes no longer for 512 KiB than for 10 bytes (14 and 15 us).", At("TCP, sender computes", 512 << 10),
           At("TCP, sender computes", 10), most=2, metric="wait_us"),
     *(here(series.name, End.LAST) for series in OVERLAP),
     Claim("Here: the computing gets 3 % slower at most.", At("TCP, sender computes", End.LAST), most=1.03,
           metric="slowdown")))


def send(id_: str, number: str, title: str, xs: tuple, claims: tuple[Claim, ...], *more: Series) -> Figure:
    return figure(
        id_, number, title,
        "Where there is room in the library's buffer, MPI_Send copies the message and returns, whatever the receiver does.",
        "blocking", xs, (metric("time_us", "MPI_Send"),),
        (*everywhere(("receiver waits", ("--call", "send", "--partner", "waiting"), "tab:blue"),
                     ("receiver computes", ("--call", "send", "--partner", "computing"), "tab:orange")), *more), claims)


FIGURE_5 = send(
    "5", "figure 5", "MPI_Send, short messages", SHORT,
    (Claim("The time grows with the length, and stays low.", At("TCP, receiver waits", End.LAST),
           At("TCP, receiver waits", End.FIRST), most=10),))

FIGURE_6 = send(
    "6", "figure 6", "MPI_Send, long messages", LONG,
    (Claim("A message of 512 KiB is copied in less than a millisecond, though its receiver computes.",
           At("TCP, receiver computes", 512 << 10), most=1000),),
    Series("one node with a library buffer, receiver computes", ("--call", "send", "--partner", "computing"),
           environment={"HEDDLE_SEND_BUFFER": str(64 << 20)}, colour="tab:green", dashed=True))

FIGURE_7 = figure(
    "7", "figure 7", "MPI_Recv",
    "A message that has come while the receiver computed is only copied; for one that has not, the receiver waits. The time for "
    "which the sender was late does not count.",
    "blocking", SHORT + LONG, (metric("time_us", "MPI_Recv"),),
    everywhere(("has come", ("--call", "recv", "--partner", "early"), "tab:blue"),
               ("has not come", ("--call", "recv", "--partner", "late"), "tab:orange")),
    (Claim("A message that has come is received sooner, a long one above all.", At("TCP, has come", 512 << 10),
           At("TCP, has not come", 512 << 10), most=0.5),))

PAPER = Paper("p5", "FiTMPI: point-to-point operations with a worker thread", "FiTMPI's authors",
              (TABLE_1, FIGURE_5, FIGURE_6, FIGURE_7))

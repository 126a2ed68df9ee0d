# SPDX-License-Identifier: BSD-3-Clause
"""P4: how deep queues are searched, and how long they take to drain, when threads exchange halos.

The recipe has one pair of queues as lists, as the paper's library does. Heddle with its defaults stands beside it,
and for depths a game of chance between threads (docs/STENCILS.md). Depths are Heddle's counters, which other MPIs
do not have; these take part with drain times. Drain times of the paper are what matching alone took. Here they
count everything, from the message that receives are posted to the last message.
"""

from __future__ import annotations

from laboratory.figure import At, Claim, End, Figure, Metric, Paper, Series, Who
from laboratory.readings import Result

THREADS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
LIST = {"HEDDLE_INSTANCES": "1", "HEDDLE_MATCHER": "list"}
COLOURS = ("tab:blue", "tab:orange", "tab:red")

# The order of messages decides depths; the time that a cache line travels does not.
DEPTH = Metric("depth", "entries looked at for a message", "", Result("depth"), log=True, any_regime=True)
DRAIN = Metric("drain", "drain time", "ms", Result("drain_ms"), log=True, budget=1.0)


def exchange(name: str, words: tuple[str, ...], colour: str) -> tuple[Series, ...]:
    """Returns one exchange in a list, with Heddle's defaults, and at the two extremes of the game."""
    return (Series(f"{name}, list", words, LIST, colour=colour),
            Series(f"{name}, as it comes", words, who=Who.ALL, colour=colour, dashed=True),
            Series(f"{name}, simulated, turns of one operation", (*words, "--simulate", "single"), ranks=1,
                   colour="silver"),
            Series(f"{name}, simulated, turns of whole threads", (*words, "--simulate", "whole"), ranks=1,
                   colour="grey"))


def stencils(decomposition: str, *points: int) -> tuple[Series, ...]:
    return sum((exchange(f"{n} points", ("--points", str(n), "--decomposition", decomposition), colour)
                for n, colour in zip(points, COLOURS)), ())


def naive(*each: int) -> tuple[Series, ...]:
    """Returns the naive exchanges. A run with hundreds of messages in a list takes seconds, so that there are fewer."""
    return sum((exchange(f"{n} messages each",
                         ("--decomposition", "naive", "--threads", "{x}", "--each", str(n),
                          "--runs", "10" if n < 100 else "3"), colour)
                for n, colour in zip(each, COLOURS)), ())


def figure(number: str, title: str, summary: str, x_label: str, xs: tuple,
           series: tuple[Series, ...], claims: tuple[Claim, ...], x_log: bool = True) -> Figure:
    return Figure(f"p4-{number}", f"figure {number}", title, summary, "stencil", x_label, xs, (DEPTH, DRAIN),
                  series, claims, words=("--runs", "10"), x_log=x_log, follows_cores=False)


def depth(words: str, series: str, x, least: float, most: float | None = None) -> Claim:
    """Returns a claim: from a fifth less than in the paper to the depth of turns of whole threads, if that is more."""
    return Claim(words, At(f"{series}, list", x), least=least, most=most)


def here(words: str, series: str, x, most: float, metric: str = "drain") -> Claim:
    """Returns a claim that this project makes, not the paper."""
    return Claim(f"Here, as it comes: {words}", At(f"{series}, as it comes", x), most=most, metric=metric)


FIGURE_1 = figure(
    "1", "naive decomposition",
    "Every thread receives 8 messages (9-point stencil), 26 (27-point) or 512. Shaded: more than a millisecond, "
    "which is the whole time step of some codes.",
    "threads", THREADS, naive(8, 26, 512),
    (depth("At 64 threads with 512 messages, more than 3,000 entries are looked at for each.",
           "512 messages each", 64, 3000),
     depth("With 26 messages it is more than 1,000 at 256 threads.", "26 messages each", 256, 1000),
     Claim("With 26 messages, 64 threads need more than four milliseconds to drain the queue.",
           At("26 messages each, list", 64), least=4, metric="drain"),
     Claim("With 256 threads they need 147 ms.", At("26 messages each, list", 256), least=100, metric="drain"),
     here("two entries or less.", "512 messages each", 64, 2, "depth"),
     here("64 threads with 512 messages need 6 ms at most.", "512 messages each", 64, 6)))

FIGURE_2 = figure(
    "2", "two-dimensional decompositions",
    "A process has as many subdomains in x as in y, with a thread each; those at its boundary communicate.",
    "subdomains in each dimension", (1, 2, 4, 8, 16, 32), stencils("{x}x{x}", 5, 9),
    (depth("32 by 32 with 5 points: 35.5 entries.", "5 points", 32, 28, 43),
     depth("32 by 32 with 9 points: 85 entries.", "9 points", 32, 68, 102),
     Claim("5 points take 92 us.", At("5 points, list", 32), most=0.2, metric="drain"),
     Claim("9 points take 487 us.", At("9 points, list", 32), most=1, metric="drain"),
     here("two entries or less.", "9 points", 32, 2, "depth")))

FIGURE_3 = figure(
    "3", "three-dimensional decompositions",
    "Subdomains in x, y and z; threads at the boundary of the process communicate.",
    "subdomains", ("1x1x1", "2x2x2", "4x4x2", "4x4x4", "8x4x4", "8x8x4"), stencils("{x}", 7, 27),
    (depth("4x4x4 with 7 points: 25.1 entries.", "7 points", "4x4x4", 20, 30),
     depth("4x4x4 with 27 points: 136 entries.", "27 points", "4x4x4", 109, 188),
     depth("8x8x4 with 7 points: 65.9 entries.", "7 points", "8x8x4", 52, 79),
     depth("8x8x4 with 27 points: 410 entries.", "27 points", "8x8x4", 300, 530),
     Claim("8x8x4 with 27 points takes 14.9 ms.", At("27 points, list", "8x8x4"), least=10, metric="drain"),
     here("two entries or less.", "27 points", "8x8x4", 2, "depth"),
     here("8x8x4 with 27 points takes 2.5 ms at most.", "27 points", "8x8x4", 2.5)), x_log=False)

FIGURE_4 = figure(
    "4", "decompositions along one dimension",
    "1 x 1 x z subdomains: every thread is at the boundary. The paper has 576 messages for 7 points and z = 256; "
    "its model, and this figure, have 1,026.",
    "subdomains in z", THREADS, stencils("1x1x{x}", 7, 27),
    (depth("z = 256 with 7 points: 115 entries, a fifth of the paper's messages.", "7 points", 256, 164, 265),
     depth("z = 256 with 27 points: 967 entries.", "27 points", 256, 773, 1580),
     Claim("27 points take 163 ms.", At("27 points, list", 256), least=100, metric="drain"),
     Claim("The more threads, the deeper the search.", At("27 points, list"),
           At("27 points, list", End.FIRST), least=10),
     here("two entries or less.", "27 points", 256, 2, "depth")))

PAPER = Paper(
    "p4", "Measuring Multithreaded Message Matching Misery",
    "Schonbein, Dosanjh, Grant, Bridges; Euro-Par 2018", (FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4))

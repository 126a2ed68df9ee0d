# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a figure: data only. ../figures/ holds one file for each paper.

The words of a command line may contain {x}, {seconds} and {repetitions}. The first is the point's x, and the others
come from the options of `heddle bench`.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Mapping, Optional, Union

from .readings import Source

X = Union[int, str]  # a number, or the name of one of several bars
HEDDLE = "heddle"


class Who(enum.Enum):
    """The contestants that a series is measured for."""
    HEDDLE = "Heddle"
    PEERS = "peers"
    ALL = "all"


@dataclasses.dataclass(frozen=True)
class Metric:
    """A quantity, read from each run. `label` stands at the y axis; `log`: the axis is logarithmic.

    `budget`: the plot is shaded beyond this value, which is too much. `any_regime`: the distance of the
    cores does not change the quantity.
    """
    key: str
    label: str
    unit: str
    source: Source
    log: bool = False
    budget: Optional[float] = None
    any_regime: bool = False


@dataclasses.dataclass(frozen=True)
class Series:
    """A line of the figure for each contestant in `who`: one configuration of the program.

    `environment` is a recipe of HEDDLE_* variables; there are no others during a run. The program has
    ranks + ranks_per_x * x ranks, on one host or as many on each of several (tools/hosts.py).
    """
    name: str
    words: tuple[str, ...] = ()
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    ranks: int = 2
    ranks_per_x: int = 0
    who: Who = Who.HEDDLE
    program: Optional[str] = None  # None: the figure's program
    colour: Optional[str] = None
    dashed: bool = False
    hosts: int = 1

    def ranks_at(self, x: X) -> int:
        return self.ranks + (self.ranks_per_x * int(x) if self.ranks_per_x else 0)


class End(enum.Enum):
    """The first or last x that both sides of a claim were measured at."""
    FIRST = "first"
    LAST = "last"


@dataclasses.dataclass(frozen=True)
class At:
    """A point of a series."""
    series: str
    x: Union[X, End] = End.LAST


@dataclasses.dataclass(frozen=True)
class Claim:
    """A result of the paper in words, and the condition under which it holds here.

    The claim holds if `above` over `below` lies between `least` and `most`. Without `below`, `above`
    itself does. `each`: the claim is for every contestant, not for Heddle alone.
    """
    words: str
    above: At
    below: Optional[At] = None
    least: Optional[float] = None
    most: Optional[float] = None
    metric: Optional[str] = None  # None: the figure's first metric
    each: bool = False


@dataclasses.dataclass(frozen=True)
class Figure:
    """A figure. `number` is the paper's name for it, such as "figure 3a". `xs` are all that make sense.

    `follows_cores`: x counts threads or pairs. Xs far beyond the cores are left out unless the user
    asks for them. `subcommand`: the program is one of `heddle`, and has no ranks.
    """
    id: str
    number: str
    title: str
    summary: str
    program: str
    x_label: str
    xs: tuple[X, ...]
    metrics: tuple[Metric, ...]
    series: tuple[Series, ...]
    claims: tuple[Claim, ...]
    words: tuple[str, ...] = ()
    x_log: bool = False
    follows_cores: bool = True
    subcommand: bool = False

    def program_of(self, series: Series) -> str:
        return series.program or self.program

    def counters(self) -> frozenset[str]:
        return frozenset().union(*(metric.source.counters() for metric in self.metrics))

    def metric(self, key: Optional[str]) -> Metric:
        return next(m for m in self.metrics if key in (None, m.key))


@dataclasses.dataclass(frozen=True)
class Paper:
    """A paper. Its `id` begins the ids of its figures: p1 has p1-3a and so on."""
    id: str
    title: str
    authors: str
    figures: tuple[Figure, ...]

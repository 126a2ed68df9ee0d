# SPDX-License-Identifier: BSD-3-Clause
"""The output of a run: the `result key=value ...` lines of a program, and Heddle's counters.

A Reading is one run. A Source reads a number out of it, or None if the run does not say it.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Mapping, Optional, Union

COUNTERS_OF = re.compile(r"heddle: counters of rank (\d+) of \d+")
COUNTER = re.compile(r"  (\w+) +(\d+) \S")


@dataclasses.dataclass(frozen=True)
class Reading:
    results: list[dict[str, str]]
    counters: dict[int, dict[str, int]]  # by rank of MPI_COMM_WORLD

    @staticmethod
    def of(output: str, errors: str) -> Reading:
        return Reading(results_of(output), counters_of(errors))


def results_of(output: str) -> list[dict[str, str]]:
    """Returns the `result` lines as dictionaries."""
    return [dict(word.split("=", 1) for word in line.split()[1:] if "=" in word)
            for line in output.splitlines() if line.startswith("result ")]


def counters_of(errors: str) -> dict[int, dict[str, int]]:
    """Returns the tables that HEDDLE_COUNTERS prints (docs/TOOLS.md), by rank."""
    counters: dict[int, dict[str, int]] = {}
    table: dict[str, int] = {}
    for line in errors.splitlines():
        if title := COUNTERS_OF.search(line):
            table = counters.setdefault(int(title.group(1)), {})
        elif entry := COUNTER.match(line):
            table[entry.group(1)] = int(entry.group(2))
    return counters


@dataclasses.dataclass(frozen=True)
class Result:
    """The first result line that has the key and all of `where` (None: any value)."""
    key: str
    where: Mapping[str, Optional[str]] = dataclasses.field(default_factory=dict)

    def read(self, reading: Reading) -> Optional[float]:
        for result in reading.results:
            if self.key in result and all(k in result and v in (None, result[k])
                                          for k, v in self.where.items()):
                return float(result[self.key])
        return None

    def counters(self) -> frozenset[str]:
        return frozenset()


@dataclasses.dataclass(frozen=True)
class Counter:
    """A counter of Heddle, of one rank or of all together, times a factor."""
    name: str
    rank: Optional[int] = None
    factor: float = 1.0

    def read(self, reading: Reading) -> Optional[float]:
        values = [table[self.name] for rank, table in reading.counters.items()
                  if self.name in table and self.rank in (None, rank)]
        return sum(values) * self.factor if values else None

    def counters(self) -> frozenset[str]:
        return frozenset({self.name})


@dataclasses.dataclass(frozen=True)
class Ratio:
    """One source over another, times a factor: a share in percent, or something per message."""
    above: Union[Result, Counter]
    below: Union[Result, Counter]
    factor: float = 1.0

    def read(self, reading: Reading) -> Optional[float]:
        above, below = self.above.read(reading), self.below.read(reading)
        return None if above is None or not below else above / below * self.factor

    def counters(self) -> frozenset[str]:
        return self.above.counters() | self.below.counters()


Source = Union[Result, Counter, Ratio]

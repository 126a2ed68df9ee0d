# SPDX-License-Identifier: BSD-3-Clause
"""The measurements that may be compared: those taken while the cores were equally far apart.

On a virtual machine the round trip of a cache line changes within seconds, by several times. So does every message
rate with it. A sample whose regime was not the same before and after is `changing` and never counts. Medians are
taken within one regime: that of which the poorest cell has most samples.
"""

from __future__ import annotations

import dataclasses
import statistics
from typing import Generic, Mapping, Sequence, TypeVar

NEAR_NS, MIDDLE_NS = 120, 350
REGIMES = ("near", "middle", "far")
CHANGING = "changing"


@dataclasses.dataclass(frozen=True)
class Sample:
    regime: str
    value: float


Key = TypeVar("Key")  # the name of a cell
Cells = Mapping[Key, Sequence[Sample]]


def name_of(line_ns: float) -> str:
    return "near" if line_ns <= NEAR_NS else "middle" if line_ns <= MIDDLE_NS else "far"


def between(before_ns: float, after_ns: float) -> str:
    """Returns the regime of a measurement between two round trips of the line."""
    before = name_of(before_ns)
    return before if name_of(after_ns) == before else CHANGING


def common(cells: Cells[Key]) -> tuple[str, int]:
    """Returns the regime in which the poorest cell has most samples, and how many that cell has."""
    def least(regime: str) -> int:
        return min(sum(s.regime == regime for s in cell) for cell in cells.values())

    if not cells:
        return "none", 0
    best = max(REGIMES, key=least)
    return best, least(best)


def most_seen(cells: Cells[Key]) -> str:
    """Returns the regime of most samples."""
    return max(REGIMES, key=lambda regime: sum(s.regime == regime for cell in cells.values()
                                               for s in cell))


@dataclasses.dataclass(frozen=True)
class Selection(Generic[Key]):
    """The samples that count, and a sentence that says which these are.

    Cells in `foreign` have no sample in the regime of the others. Theirs are of any regime, and not comparable.
    """
    cells: dict[Key, list[float]]
    foreign: frozenset[Key]
    note: str

    def medians(self) -> dict[Key, float]:
        return {at: statistics.median(values) for at, values in self.cells.items()}


FOREIGN = "~"  # stands before the value of a foreign cell


def select(cells: Cells[Key], any_regime: bool = False) -> Selection[Key]:
    everything = {at: [s.value for s in cell] for at, cell in cells.items() if cell}
    if any_regime:
        return Selection(everything, frozenset(), "Any regime")
    regime, count = common(cells)
    if count == 0:
        regime = most_seen(cells)
    kept = {at: [s.value for s in cell if s.regime == regime] for at, cell in cells.items()}
    foreign = frozenset(at for at in everything if not kept[at])
    counted = sum(len(cell) for cell in kept.values())
    if counted == 0:
        return Selection(everything, foreign, "No regime lasted for a measurement: not comparable")
    note = f"Regime {regime}, {counted} of {sum(map(len, cells.values()))} figures, "
    note += f"those with {FOREIGN} have none in it" if foreign else f"at least {count} each"
    return Selection({at: kept[at] or values for at, values in everything.items()}, foreign, note)

# SPDX-License-Identifier: BSD-3-Clause
"""Predictions of logp.py beside measurements of several turns, with the reason of an error if the measurements say it."""

from __future__ import annotations

import dataclasses
import statistics
from typing import Mapping, Sequence

from . import logp, regime
from .logp import Measured, Model, Table

Cell = tuple[str, int]  # a field of Measured and a length
TOO_FAR = 15.0  # percent
FEW = 3  # samples: fewer say nothing about scatter
CLOCK, SCATTER, REGIME, UNEXPLAINED = "below the clock", "scatter", "regime", "unexplained"
REASONS = {
    CLOCK: "the difference is less than what an empty call takes, timed in the same way",
    SCATTER: "the middle half of the measurements, or of the predictions, of the turns is wider than the difference",
    REGIME: "no turn had it undisturbed while the cores were as far apart as for the others",
    UNEXPLAINED: "none of these",
}


@dataclasses.dataclass(frozen=True)
class Row:
    length: int
    predicted: float
    measured: float
    scatter: float = 0.0    # of the measurement or of the prediction, whichever is more
    clock: float = 0.0      # time of an empty call; 0 if many calls were timed together
    foreign: bool = False   # of another regime than the others, or disturbed

    @property
    def error(self) -> float:
        """Returns the error in percent of the measurement."""
        return 100 * (self.predicted - self.measured) / self.measured if self.measured else 0.0

    @property
    def reason(self) -> str:
        """Returns why the prediction is too far off, or '' if it is not."""
        difference = abs(self.predicted - self.measured)
        if abs(self.error) <= TOO_FAR:
            return ""
        if difference < self.clock:
            return CLOCK
        if difference < self.scatter:
            return SCATTER
        return REGIME if self.foreign else UNEXPLAINED


def middle_half(values: Sequence[float]) -> float:
    """Returns the width of the interval that holds the middle half of the values, or 0 for too few values."""
    if len(values) < FEW:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return high - low


def measured_of(cells: Mapping[Cell, float]) -> Measured:
    fields: dict[str, dict[int, float]] = {field.name: {} for field in dataclasses.fields(Measured)}
    for (kind, length), time in cells.items():
        fields[kind][length] = time
    return Measured(**fields)


class Comparison:
    """The model of medians over turns, and its rows."""

    def __init__(self, cells: regime.Cells[Cell], fitted: Sequence[int], computed: float) -> None:
        """Makes the model. fitted: the lengths from which parameters come."""
        self.chosen = regime.select(cells)
        self.fitted, self.computed = fitted, computed
        self.measured = measured_of(self.chosen.medians())
        self.model = self.model_of(self.measured)
        self.of_turns = [self.model_of(measured_of({at: values[turn] for at, values in self.chosen.cells.items()}))
                         for turn in range(min(map(len, self.chosen.cells.values())))]

    def model_of(self, measured: Measured) -> Model:
        return logp.model_of(measured.part(self.fitted), self.computed)

    def row(self, table: Table, length: int) -> Row:
        at = (table.kind, length)
        foreign = {kind for kind, _ in self.chosen.foreign}
        scatter = max(middle_half(self.chosen.cells[at]),
                      middle_half([table.predict(model, length) for model in self.of_turns]))
        clock = min(self.measured.clock.values(), default=0.0) if table.single else 0.0
        return Row(length, table.predict(self.model, length), getattr(self.measured, table.kind)[length], scatter, clock,
                   not foreign.isdisjoint({table.kind, *table.needs}))

    def tables(self, lengths: Sequence[int]) -> dict[str, list[Row]]:
        return {table.name: [self.row(table, length) for length in lengths] for table in logp.tables(self.computed)}

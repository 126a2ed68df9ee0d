# SPDX-License-Identifier: BSD-3-Clause
"""The summary of a figure's points: medians within one regime, and whether the paper's claims hold."""

from __future__ import annotations

import dataclasses
import statistics
from typing import Any, Mapping, Optional, Sequence

from . import regime
from .figure import HEDDLE, At, Claim, End, Figure, Metric, Series, X
from .points import SERIES_AS_A_WHOLE, Place, Point, Store


FEWEST_SAMPLES = 3  # for a verdict: fewer may be the machine's mood


@dataclasses.dataclass(frozen=True)
class Cell:
    """The samples of one place that count. `foreign`: they are of another regime than those of other places."""
    median: float
    least: float
    most: float
    samples: int
    foreign: bool

    @staticmethod
    def of(values: Sequence[float], foreign: bool) -> Cell:
        return Cell(statistics.median(values), min(values), max(values), len(values), foreign)

    def __str__(self) -> str:
        return (regime.FOREIGN if self.foreign else "") + number(self.median)


@dataclasses.dataclass(frozen=True)
class Line:
    """A series of one contestant; `label` is its name in tables and legends."""
    series: Series
    contestant: str
    label: str


@dataclasses.dataclass(frozen=True)
class Verdict:
    """A verdict. `holds` is None if a value was not measured, or not often enough. `found` is the result in words."""
    claim: Claim
    holds: Optional[bool]
    found: str
    too_few: bool = False

    def word(self) -> str:
        if self.too_few:
            return "measured too seldom to say"
        return {True: "holds here", False: "does not hold here", None: "not measured"}[self.holds]


@dataclasses.dataclass(frozen=True)
class Summary:
    figure: Figure
    xs: list[X]
    lines: list[Line]
    cells: dict[str, dict[Place, Cell]]  # by metric
    notes: dict[str, str]                # by metric: the samples that counted
    problems: dict[str, list[str]]       # by reason: the places that were not measured
    configuration: Mapping[str, Any]

    def cell(self, metric: Metric, line: Line, x: X) -> Optional[Cell]:
        return self.cells[metric.key].get(Place(line.series.name, line.contestant, x))

    def verdicts(self) -> list[Verdict]:
        return [verdict for claim in self.figure.claims for verdict in judge(self, claim)]


def summarise(figure: Figure, store: Store) -> Summary:
    points = store.read()
    measured = [point for point in points if point.values]
    cells, notes = {}, {}
    for metric in figure.metrics:
        samples: dict[Place, list[regime.Sample]] = {}
        for point in measured:
            if metric.key in point.values:
                sample = regime.Sample(point.regime, point.values[metric.key])
                samples.setdefault(point.place, []).append(sample)
        chosen = regime.select(samples, metric.any_regime)
        cells[metric.key] = {place: Cell.of(values, place in chosen.foreign)
                             for place, values in chosen.cells.items()}
        notes[metric.key] = chosen.note + disturbance(measured)
    there = {(point.place.series, point.place.contestant) for point in measured}
    return Summary(figure, xs_of(figure, measured), lines_of(figure, there), cells, notes,
                   problems_of(points), store.configuration)


def disturbance(points: Sequence[Point]) -> str:
    count = sum(point.disturbed for point in points)
    return f"; {count} of {len(points)} runs shared the machine with other programs" if count else ""


def xs_of(figure: Figure, points: Sequence[Point]) -> list[X]:
    there = {point.place.x for point in points}
    return [x for x in figure.xs if x in there] + sorted(there - set(figure.xs), key=str)


def lines_of(figure: Figure, there: set[tuple[str, str]]) -> list[Line]:
    contestants = sorted({name for _, name in there}, key=lambda name: (name != HEDDLE, name))
    alone = contestants == [HEDDLE]
    return [Line(series, name, series.name if alone else f"{name}: {series.name}")
            for series in figure.series for name in contestants if (series.name, name) in there]


def problems_of(points: Sequence[Point]) -> dict[str, list[str]]:
    """Returns the places without a value, by their last reason."""
    fine = {point.place for point in points if point.values}
    last: dict[str, str] = {}
    for point in points:
        if point.problem and point.place not in fine:
            place = point.place
            at = f", x {place.x}" if point.turn != SERIES_AS_A_WHOLE else ""
            last[f"{place.contestant}, {place.series}{at}"] = point.problem
    reasons: dict[str, list[str]] = {}
    for what, why in last.items():
        reasons.setdefault(why, []).append(what)
    return reasons


def judge(summary: Summary, claim: Claim) -> list[Verdict]:
    """Returns verdicts on the claim for Heddle, or for each contestant that has both its sides."""
    names = [HEDDLE]
    if claim.each:
        both = [{line.contestant for line in summary.lines if line.series.name == at.series}
                for at in (claim.above, claim.below) if at]
        names = sorted(set.intersection(*both), key=lambda name: (name != HEDDLE, name)) or names
    return [judge_one(summary, claim, name) for name in names]


def judge_one(summary: Summary, claim: Claim, contestant: str) -> Verdict:
    metric = summary.figure.metric(claim.metric)
    sides = [at for at in (claim.above, claim.below) if at]
    found = [measured_xs(summary, metric, at.series, contestant) for at in sides]
    common = [x for x in summary.xs if all(x in xs for xs in found)]
    values, words, samples = [], [], []
    for at, own in zip(sides, found):
        x = resolve(at, common)
        if x is None or x not in own:
            return Verdict(claim, None, f"{contestant}, {at.series}: no figure to compare")
        cell = summary.cells[metric.key][Place(at.series, contestant, x)]
        values.append(cell.median)
        samples.append(cell.samples)
        words.append(f"{number(cell.median)} {metric.unit}".rstrip() + f" ({at.series}, {x})")
    if len(values) == 1:
        value, text = values[0], words[0]
    elif values[1] == 0:
        return Verdict(claim, None, f"{contestant}: {words[0]} against {words[1]}")
    else:
        value = values[0] / values[1]
        text = f"{words[0]} / {words[1]} = {number(value)}"
    if min(samples) < FEWEST_SAMPLES:
        return Verdict(claim, None, f"{contestant}: {text}; asked for: {bounds(claim)}", too_few=True)
    holds = (claim.least is None or value >= claim.least) and \
            (claim.most is None or value <= claim.most)
    return Verdict(claim, holds, f"{contestant}: {text}; asked for: {bounds(claim)}")


def measured_xs(summary: Summary, metric: Metric, series: str, contestant: str) -> list[X]:
    """Returns the xs that have a comparable value."""
    return [place.x for place, cell in summary.cells[metric.key].items()
            if (place.series, place.contestant) == (series, contestant) and not cell.foreign]


def resolve(at: At, common: Sequence[X]) -> Optional[X]:
    if not isinstance(at.x, End):
        return at.x
    if not common:
        return None
    return common[0 if at.x == End.FIRST else -1]


def bounds(claim: Claim) -> str:
    parts = []
    if claim.least is not None:
        parts.append(f"at least {number(claim.least)}")
    if claim.most is not None:
        parts.append(f"at most {number(claim.most)}")
    return " and ".join(parts)


def number(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.1f}"

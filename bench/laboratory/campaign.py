# SPDX-License-Identifier: BSD-3-Clause
"""Measures figures: every series and contestant in turn (A B C A B C ...), each point stored at once.

A figure is measured in turns; within one, all series and contestants of an x follow each other. Points that are
stored already with the same configuration are not measured again. After the turns some cells lack a sample in the
regime that most samples have. They are measured again, as often as there were turns.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any, Optional, Sequence

from . import jobs, regime
from .contestants import Contestant, Unusable, fingerprint, source_of, without_knobs
from .figure import Figure, Metric, Series, Who, X
from .machine import TRIES, Machine, cores, hardware
from .points import SERIES_AS_A_WHOLE, Place, Point, Store
from .progress import Progress
from .readings import Reading

REFUSED = "allowed are"  # in Heddle's error about a knob's value
OVERHEAD_S = 0.3  # of a run, besides its repetitions: a first guess


@dataclasses.dataclass(frozen=True)
class Settings:
    """The command's options that hold for all figures."""
    turns: int = 5
    seconds: float = 0.1  # of a repetition
    repetitions: int = 5
    limit_s: float = 120
    waiting: str = "yield"
    up_to: Optional[int] = None         # of an x that follows the cores
    only_xs: tuple[str, ...] = ()
    points: Optional[int] = None        # how many xs at most
    tries: int = TRIES                  # of a run, while other programs disturb it
    again: bool = True                  # measure cells that have no sample in the regime of the others


def xs_of(figure: Figure, settings: Settings) -> list[X]:
    """Returns the xs to measure. By default, threads or pairs go to twice the cores, at least to 8."""
    xs = list(figure.xs)
    if settings.only_xs:
        return [int(x) if x.isdigit() else x for x in settings.only_xs]
    if figure.follows_cores:
        limit = settings.up_to or max(8, 2 * cores())
        xs = [x for x in xs if isinstance(x, str) or x <= limit] or xs[:1]
    return xs[:settings.points]


def takes_part(series: Series, contestant: Contestant) -> bool:
    return series.who == Who.ALL or (series.who == Who.HEDDLE) == contestant.is_heddle


def configuration(figure: Figure, contestants: Sequence[Contestant],
                  settings: Settings) -> dict[str, Any]:
    """Returns everything that must be equal for points to stand in one figure."""
    programs = set() if figure.subcommand else {figure.program_of(series) for series in figure.series}
    return {
        "metrics": [metric.key for metric in figure.metrics],
        "sources": [str(metric.source) for metric in figure.metrics],
        "programs": {name: fingerprint(source_of(name)) for name in sorted(programs)},
        "words": list(figure.words),
        "series": [{"name": s.name, "program": figure.program_of(s), "words": list(s.words),
                    "environment": dict(s.environment), "ranks": s.ranks,
                    "ranks_per_x": s.ranks_per_x, "who": s.who.value,
                    **({"hosts": s.hosts} if s.hosts > 1 else {})} for s in figure.series],
        "contestants": {c.name: c.identity() for c in contestants},
        "seconds": settings.seconds, "repetitions": settings.repetitions,
        "waiting": settings.waiting, "machine": hardware(),
    }


@dataclasses.dataclass(frozen=True)
class Step:
    """A point that is to be measured."""
    figure: Figure
    series: Series
    contestant: Contestant
    x: X
    turn: int

    @property
    def place(self) -> Place:
        return Place(self.series.name, self.contestant.name, self.x)

    @property
    def like(self) -> tuple[str, Place]:
        """Returns a key that is equal for steps that take equally long."""
        return self.figure.id, self.place

    def __str__(self) -> str:
        return f"{self.figure.id} turn {self.turn}: x {self.x}, {self.contestant.name}, {self.series.name}"


class Plan:
    """The steps of one figure, the store of its points, and the series that cannot be measured, with reasons."""

    def __init__(self, figure: Figure, contestants: Sequence[Contestant], settings: Settings,
                 store: Store) -> None:
        self.figure, self.settings, self.store = figure, settings, store
        self.xs = xs_of(figure, settings)
        self.refused: dict[tuple[str, str], str] = {}
        self.steps: list[Step] = []
        pairs = [(series, contestant) for series in figure.series for contestant in contestants
                 if takes_part(series, contestant)]
        done = {(p.place, p.turn) for p in store.read() if not p.problem}
        for series, contestant in pairs:
            unknown = sorted(set(series.environment) - contestant.knobs())
            if unknown and contestant.is_heddle:
                self.refused[series.name, contestant.name] = f"unknown knob {', '.join(unknown)}"
        for turn in range(1, settings.turns + 1):
            for x in self.xs:
                for series, contestant in pairs:
                    step = Step(figure, series, contestant, x, turn)
                    if (series.name, contestant.name) in self.refused or (step.place, turn) in done:
                        continue
                    self.steps.append(step)
        self._pairs = pairs

    def refuse(self) -> dict[str, list[str]]:
        """Stores why some series are not measured. Returns these series by reason."""
        known = {(p.place, p.problem) for p in self.store.read()}
        reasons: dict[str, list[str]] = {}
        for (series, contestant), why in self.refused.items():
            place = Place(series, contestant, self.xs[0])
            if (place, why) not in known:
                self.store.add(Point(place, SERIES_AS_A_WHOLE, problem=why))
            reasons.setdefault(why, []).append(f"{contestant}, {series}")
        return reasons

    def lacking(self) -> list[Step]:
        """Returns steps for the places that have no sample in the regime of most samples."""
        timed = {metric.key for metric in self.figure.metrics if not metric.any_regime}
        points = [p for p in self.store.read() if not p.problem and timed & p.values.keys()]
        if not points or not self.settings.again:
            return []
        cells: dict[Place, list[regime.Sample]] = {}
        for point in points:
            cells.setdefault(point.place, []).append(regime.Sample(point.regime, 0))
        wanted = regime.most_seen(cells)
        steps = []
        for x in self.xs:
            for series, contestant in self._pairs:
                place = Place(series.name, contestant.name, x)
                cell = cells.get(place, [])
                if cell and len(cell) < 2 * self.settings.turns and \
                        all(sample.regime != wanted for sample in cell):
                    steps.append(Step(self.figure, series, contestant, x, len(cell) + 1))
        return steps


class Campaign:
    def __init__(self, machine: Machine, settings: Settings) -> None:
        self.machine, self.settings = machine, settings
        self._failed: set[tuple[str, Place]] = set()

    def run(self, plans: Sequence[Plan]) -> None:
        guess = self.settings.seconds * (self.settings.repetitions + 0.25) + OVERHEAD_S
        self._build(plans)
        progress = Progress([step.like for plan in plans for step in plan.steps], guess)
        try:
            for plan in plans:
                for why, what in plan.refuse().items():
                    progress.say(f"{plan.figure.id}: not measured: {why}: {'; '.join(what)}")
                self._all(plan.steps, plan, progress)
                for _ in range(self.settings.turns):
                    steps = [s for s in plan.lacking() if s.like not in self._failed]
                    if not steps:
                        break
                    progress.more([step.like for step in steps])
                    self._all(steps, plan, progress)
                plan.store.touch()
        finally:
            progress.end()

    @staticmethod
    def _build(plans: Sequence[Plan]) -> None:
        """Builds all programs first, so that the remaining time can be told. The steps report failures."""
        wanted = {(step.contestant.name, step.figure.program_of(step.series)): step.contestant
                  for plan in plans for step in plan.steps if not step.figure.subcommand}
        for (_, program), contestant in wanted.items():
            try:
                contestant.program(program)
            except Unusable:
                pass

    def _all(self, steps: Sequence[Step], plan: Plan, progress: Progress) -> None:
        for step in steps:
            if step.like in self._failed:
                progress.drop(step.like)
                continue
            progress.begin(str(step))
            begin = time.monotonic()
            point = self._measure(step)
            plan.store.add(point)
            progress.done(step.like, time.monotonic() - begin)
            if point.problem:
                self._failed.update(self._hopeless(step, point, steps))
                progress.say(f"{step}: not measured: {point.problem}")

    @staticmethod
    def _hopeless(step: Step, point: Point, steps: Sequence[Step]) -> set[tuple[str, Place]]:
        """Returns the keys of steps that would fail, too: the same point, or the whole series if a knob was refused."""
        whole = REFUSED in point.problem
        return {other.like for other in steps if other.like == step.like or
                (whole and (other.series, other.contestant) == (step.series, step.contestant))}

    def _measure(self, step: Step) -> Point:
        try:
            argv, environment = command(step, self.settings)
        except Unusable as reason:
            return Point(step.place, step.turn, problem=str(reason))
        disturbed, begin = self.machine.disturbed, time.monotonic()
        before = self.machine.line_ns()
        outcome = self.machine.alone(lambda: jobs.execute(argv, environment, self.settings.limit_s))
        after = self.machine.line_ns()
        reading = Reading.of(outcome.output, outcome.errors)
        values = {} if outcome.problem else values_of(step.figure.metrics, reading)
        problem = outcome.problem or ("" if values else "the run printed no such figure")
        return Point(step.place, step.turn, regime.between(before, after), before, after,
                     self.machine.disturbed > disturbed, time.monotonic() - begin, problem, values)


def values_of(metrics: Sequence[Metric], reading: Reading) -> dict[str, float]:
    found = {metric.key: metric.source.read(reading) for metric in metrics}
    return {key: value for key, value in found.items() if value is not None}


def command(step: Step, settings: Settings) -> tuple[list[str], dict[str, str]]:
    """Returns the command line of a step, and its environment."""
    figure, series, contestant = step.figure, step.series, step.contestant
    stands_for = {"x": step.x, "seconds": f"{settings.seconds:g}", "repetitions": settings.repetitions}
    words = [word.format(**stands_for) for word in (*figure.words, *series.words)]
    environment = {**without_knobs(), **contestant.environment_on(series.hosts), **series.environment}
    if contestant.is_heddle and figure.counters():
        environment["HEDDLE_COUNTERS"] = f"^({'|'.join(sorted(figure.counters()))})$"
    if figure.subcommand:
        return [str(contestant.prefix / "bin/heddle"), figure.program_of(series), *words], environment
    program = contestant.program(figure.program_of(series))
    return [*contestant.start(series.ranks_at(step.x), series.hosts), str(program), *words], environment

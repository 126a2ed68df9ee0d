# SPDX-License-Identifier: BSD-3-Clause
"""The store of measurements: a CSV file for each figure and configuration, a line for each run.

Lines are only ever appended, each in one write, so that an interruption leaves whole points. A line that was cut
short all the same is dropped by the next write. The configuration lies beside the file as JSON. It is everything
that must be equal for points to stand in one figure.
"""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import io
import json
import pathlib
from typing import Any, Iterator, Mapping, Optional, Sequence

from .figure import X

FIXED = ("turn", "x", "series", "contestant", "regime", "line_before_ns", "line_after_ns",
         "disturbed", "seconds", "problem")
SERIES_AS_A_WHOLE = 0  # the turn of a point that says why its series is not measured at all


@dataclasses.dataclass(frozen=True)
class Place:
    """The place of a point in its figure."""
    series: str
    contestant: str
    x: X


@dataclasses.dataclass(frozen=True)
class Point:
    """One run. `problem` says why there are no values."""
    place: Place
    turn: int
    regime: str = ""
    line_before_ns: float = 0
    line_after_ns: float = 0
    disturbed: bool = False  # other programs took part of the machine
    seconds: float = 0
    problem: str = ""
    values: Mapping[str, float] = dataclasses.field(default_factory=dict)


class Store:
    """The points of one figure in one configuration."""

    def __init__(self, folder: pathlib.Path, figure_id: str, configuration: Mapping[str, Any]) -> None:
        """Makes a store. The first added point makes the folder."""
        text = json.dumps(configuration, indent=2, sort_keys=True)
        key = hashlib.sha256(text.encode()).hexdigest()[:8]
        self.path = folder / f"{figure_id}.{key}.csv"
        self.configuration = dict(configuration)
        self._text = text
        self._columns = (*FIXED, *configuration["metrics"])

    def read(self) -> list[Point]:
        if not self.path.is_file():
            return []
        return list(points_in(self.path.read_text(encoding="utf-8"), self._columns))

    def add(self, point: Point) -> None:
        whole = self._whole_lines()
        with self.path.open("r+b" if whole else "wb") as file:
            file.seek(whole)
            file.truncate()
            file.write((line_of(point, self._columns) if whole else
                        self._title() + line_of(point, self._columns)).encode())

    def forget(self) -> None:
        self.path.unlink(missing_ok=True)
        description_of(self.path).unlink(missing_ok=True)

    def touch(self) -> None:
        """Makes this the figure's newest configuration."""
        if self.path.is_file():
            self.path.touch()

    def _title(self) -> str:
        return ",".join(self._columns) + "\n"

    def _whole_lines(self) -> int:
        """Returns the bytes of the file up to its last whole line. Writes the description of a new file."""
        if self.path.is_file():
            return self.path.read_bytes().rfind(b"\n") + 1
        self.path.parent.mkdir(parents=True, exist_ok=True)
        description_of(self.path).write_text(self._text + "\n", encoding="utf-8")
        return 0


def description_of(path: pathlib.Path) -> pathlib.Path:
    return path.with_suffix(".json")


def newest(folder: pathlib.Path, figure_id: str) -> Optional[Store]:
    """Returns the points of that figure that were measured last, or None if there are none."""
    files = [file for file in folder.glob(f"{figure_id}.*.csv") if description_of(file).is_file()]
    if not files:
        return None
    last = max(files, key=lambda file: file.stat().st_mtime_ns)
    return Store(folder, figure_id, json.loads(description_of(last).read_text(encoding="utf-8")))


def line_of(point: Point, columns: Sequence[str]) -> str:
    entries = {
        "turn": point.turn, "x": point.place.x, "series": point.place.series,
        "contestant": point.place.contestant, "regime": point.regime,
        "line_before_ns": f"{point.line_before_ns:.0f}",
        "line_after_ns": f"{point.line_after_ns:.0f}", "disturbed": int(point.disturbed),
        "seconds": f"{point.seconds:.2f}", "problem": " ".join(point.problem.split()),
        **{key: repr(value) for key, value in point.values.items()},
    }
    text = io.StringIO()
    csv.DictWriter(text, columns, restval="", lineterminator="\n").writerow(entries)
    return text.getvalue()


def points_in(text: str, columns: Sequence[str]) -> Iterator[Point]:
    whole = text[:text.rfind("\n") + 1]
    for row in csv.DictReader(io.StringIO(whole)):
        x = row["x"]
        yield Point(
            Place(row["series"], row["contestant"], int(x) if x.isdigit() else x),
            int(row["turn"]), row["regime"], float(row["line_before_ns"]),
            float(row["line_after_ns"]), row["disturbed"] == "1", float(row["seconds"]),
            row["problem"],
            {key: float(row[key]) for key in columns[len(FIXED):] if row[key]})

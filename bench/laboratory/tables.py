# SPDX-License-Identifier: BSD-3-Clause
"""A figure as text and as CSV."""

from __future__ import annotations

import csv
import io

from .figure import Metric
from .summary import Summary

MISSING = "–"


def rows_of(summary: Summary, metric: Metric) -> list[list[str]]:
    """Returns a row of texts for each line of the figure that has the metric. The first row names the xs."""
    rows = [[summary.figure.x_label, *map(str, summary.xs)]]
    for line in summary.lines:
        cells = [summary.cell(metric, line, x) for x in summary.xs]
        if any(cells):
            rows.append([line.label, *(str(cell) if cell else MISSING for cell in cells)])
    return rows


def title_of(metric: Metric) -> str:
    return f"{metric.label} [{metric.unit}]" if metric.unit else metric.label


def aligned(rows: list[list[str]]) -> str:
    """Returns the rows as text, with numbers to the right and names to the left."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(text.rjust(width) if at else text.ljust(width)
                               for at, (text, width) in enumerate(zip(row, widths)))
                     for row in rows)


def as_text(summary: Summary) -> str:
    figure = summary.figure
    parts = [f"{figure.id}: {figure.number}, {figure.title}", figure.summary]
    for metric in figure.metrics:
        if summary.cells[metric.key]:
            parts += ["", f"{title_of(metric)}. {summary.notes[metric.key]}.",
                      aligned(rows_of(summary, metric))]
    parts.append("")
    parts += [f"- {v.claim.words} {v.word().capitalize()} ({v.found})." for v in summary.verdicts()]
    parts += [f"- Not measured: {why}: {'; '.join(what)}" for why, what in summary.problems.items()]
    return "\n".join(parts)


def as_csv(summary: Summary) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["metric", "unit", "series", "contestant", "x", "median", "least", "most",
                     "samples", "comparable"])
    for metric in summary.figure.metrics:
        for line in summary.lines:
            for x in summary.xs:
                if cell := summary.cell(metric, line, x):
                    writer.writerow([metric.key, metric.unit, line.series.name, line.contestant, x,
                                     cell.median, cell.least, cell.most, cell.samples,
                                     "no" if cell.foreign else "yes"])
    return text.getvalue()

# SPDX-License-Identifier: BSD-3-Clause
"""A figure as SVG: a panel for each metric, lines over numbers and bars over names.

Only this module needs matplotlib. Everything else works without it.
"""

from __future__ import annotations

import pathlib
from typing import Any

from .figure import HEDDLE, Metric, X
from .summary import Cell, Summary
from .tables import title_of

MARKERS = "os^Dv<>pX*"
MISSING = "no plots: this Python has no matplotlib (Debian: python3-matplotlib)"


class Unavailable(Exception):
    """An error: there is no matplotlib. The text says so."""


def draw(summary: Summary, path: pathlib.Path) -> None:
    try:
        import matplotlib
    except ImportError:
        raise Unavailable(MISSING) from None
    matplotlib.use("svg")
    from matplotlib import pyplot
    # Equal points give an equal file.
    matplotlib.rcParams.update({"svg.hashsalt": "heddle", "svg.fonttype": "none", "font.size": 9})
    metrics = [metric for metric in summary.figure.metrics if summary.cells[metric.key]]
    if not metrics:
        path.unlink(missing_ok=True)  # of another configuration
        return
    picture, panels = pyplot.subplots(1, len(metrics), figsize=(5.2 * len(metrics), 3.6),
                                      squeeze=False)
    for panel, metric in zip(panels[0], metrics):
        fill(panel, summary, metric)
    labels = {label: handle for panel in panels[0]
              for handle, label in zip(*panel.get_legend_handles_labels())}
    picture.legend(labels.values(), labels.keys(), loc="upper center", bbox_to_anchor=(0.5, 0.0),
                   ncol=2, frameon=False)
    picture.suptitle(f"{summary.figure.number}: {summary.figure.title}")
    picture.savefig(path, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(picture)


def fill(panel: Any, summary: Summary, metric: Metric) -> None:
    if any(isinstance(x, str) for x in summary.xs):
        bars(panel, summary, metric)
    else:
        lines(panel, summary, metric)
    panel.set_xlabel(summary.figure.x_label)
    panel.set_ylabel(title_of(metric))
    zero = has_zero(summary, metric)
    if metric.log:
        panel.set_yscale("symlog" if zero else "log")
    if zero or not metric.log:
        panel.set_ylim(bottom=0)
    panel.grid(alpha=0.3)
    if metric.budget is not None:
        shade(panel, metric.budget)


def shade(panel: Any, budget: float) -> None:
    """Shades the plot beyond the budget, up to a decade of it if the lines end below."""
    bottom, top = panel.get_ylim()
    top = max(top, 10 * budget)
    panel.axhspan(budget, top, color="0.9", zorder=0)
    panel.set_ylim(bottom, top)


def has_zero(summary: Summary, metric: Metric) -> bool:
    return any(cell.median <= 0 for cell in summary.cells[metric.key].values())


def lines(panel: Any, summary: Summary, metric: Metric) -> None:
    contestants = list(dict.fromkeys(line.contestant for line in summary.lines))
    for line, colour in zip(summary.lines, colours_of(summary)):
        cells = {x: cell for x in summary.xs if (cell := summary.cell(metric, line, x))}
        marker = MARKERS[contestants.index(line.contestant) % len(MARKERS)]
        curve(panel, {x: cell for x, cell in cells.items() if not cell.foreign}, colour, marker,
              "--" if line.series.dashed else "-", label=line.label)
        # Foreign cells, which are not comparable, stand apart from the line, hollow.
        curve(panel, {x: cell for x, cell in cells.items() if cell.foreign}, colour, marker, "none",
              markerfacecolor="none")
    if summary.figure.x_log:
        panel.set_xscale("log", base=2)
    panel.set_xticks(summary.xs, [str(x) for x in summary.xs], minor=False)


def curve(panel: Any, cells: dict[X, Cell], colour: str, marker: str, style: str, **more: Any) -> None:
    """Draws medians, with bars from the least to the most."""
    middle = [cell.median for cell in cells.values()]
    spread = [[cell.median - cell.least for cell in cells.values()],
              [cell.most - cell.median for cell in cells.values()]]
    panel.errorbar(list(cells), middle, yerr=spread, capsize=2, linewidth=1.4, elinewidth=0.6,
                   markersize=4, color=colour, marker=marker, linestyle=style, **more)


def bars(panel: Any, summary: Summary, metric: Metric) -> None:
    width = 0.8 / max(1, len(summary.lines))
    for at, (line, colour) in enumerate(zip(summary.lines, colours_of(summary))):
        cells = {i: cell for i, x in enumerate(summary.xs) if (cell := summary.cell(metric, line, x))}
        panel.bar([i + width * (at - (len(summary.lines) - 1) / 2) for i in cells],
                  [cell.median for cell in cells.values()], width, label=line.label,
                  color=colour)
    panel.set_xticks(range(len(summary.xs)), [str(x) for x in summary.xs])


def colours_of(summary: Summary) -> list[str]:
    """Returns the colour of each line: for Heddle itself the one of its series. The n-th solid and the n-th
    dashed line of a contestant share one, since they belong together."""
    colours: list[str] = []
    chosen: dict[tuple[str, int], str] = {}
    for line in summary.lines:
        if line.series.colour and line.contestant == HEDDLE:
            colours.append(line.series.colour)
            continue
        alike = [series.name for series in summary.figure.series if series.dashed == line.series.dashed]
        key = line.contestant, alike.index(line.series.name)
        colours.append(chosen.setdefault(key, f"C{len(chosen) % 10}"))
    return colours

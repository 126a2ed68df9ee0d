# SPDX-License-Identifier: BSD-3-Clause
"""All figures of a folder of results as one HTML page, which needs no other file."""

from __future__ import annotations

import pathlib
import re
from html import escape
from typing import Any, Mapping, Sequence

from .figure import Metric, Paper
from .summary import Summary, Verdict
from .tables import rows_of, title_of

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: #222 }
h2 { margin-top: 3rem; border-bottom: 1px solid #ccc } h3 { margin-top: 2.5rem }
table { border-collapse: collapse; font-size: 0.85rem; margin: 0.5rem 0 1rem }
td, th { padding: 0.15rem 0.7rem; text-align: right; border-bottom: 1px solid #ddd; font-weight: normal }
td:first-child, th:first-child { text-align: left } th { color: #555 }
svg { max-width: 100%; height: auto } .note, details { color: #666; font-size: 0.85rem }
.holds { color: #17692f } .fails { color: #a3261f } .open { color: #777 }
"""
CLASSES = {True: "holds", False: "fails", None: "open"}


def page(papers: Sequence[Paper], summaries: Mapping[str, Summary],
         plots: Mapping[str, pathlib.Path]) -> str:
    """Returns the page. summaries and plots: those of measured figures, by figure id."""
    parts = ["<!DOCTYPE html>\n<html lang=en><meta charset=utf-8>"
             f"<title>Heddle: the papers' figures</title><style>{STYLE}</style>\n"
             "<h1>The papers' figures, measured here</h1>"]
    for paper in papers:
        figures = [figure for figure in paper.figures if figure.id in summaries]
        if not figures:
            continue
        parts.append(f"<h2>{escape(paper.title)}</h2><p>{escape(paper.authors)}</p>")
        parts += [section(summaries[f.id], plots.get(f.id)) for f in figures]
    return "\n".join(parts) + "\n</html>\n"


def section(summary: Summary, plot: pathlib.Path | None) -> str:
    figure = summary.figure
    title = f"{figure.number[0].upper()}{figure.number[1:]}: {figure.title}"
    parts = [f'<h3 id="{figure.id}">{escape(title)}</h3>', f"<p>{escape(figure.summary)}</p>"]
    if plot and plot.is_file():
        parts.append(inline(plot, figure.id))
    if figure.claims:
        parts.append("<ul>" + "".join(item(verdict) for verdict in summary.verdicts()) + "</ul>")
    for metric in figure.metrics:
        if summary.cells[metric.key]:
            parts.append(table(summary, metric))
    if summary.problems:
        reasons = "".join(f"<li>Not measured: {escape(why)}: {escape('; '.join(what))}"
                          for why, what in summary.problems.items())
        parts.append(f"<ul class=open>{reasons}</ul>")
    parts.append(how(summary))
    return "\n".join(parts)


def item(verdict: Verdict) -> str:
    return (f"<li>{escape(verdict.claim.words)} <b class={CLASSES[verdict.holds]}>"
            f"{verdict.word().capitalize()}.</b> <span class=note>{escape(verdict.found)}</span>")


def table(summary: Summary, metric: Metric) -> str:
    rows = rows_of(summary, metric)
    body = "".join(f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag}>' for text in row)}</tr>\n"
                   for tag, row in zip(["th"] + ["td"] * len(rows), rows))
    note = f"{title_of(metric)}. {summary.notes[metric.key]}; medians."
    return f"<p class=note>{escape(note)}</p><table>{body}</table>"


def how(summary: Summary) -> str:
    """Returns the commands that were run, so that they can be repeated."""
    told = summary.configuration
    lines = [f"{told['machine']}; repetitions of {told['seconds']:g} s, {told['repetitions']} a run; "
             f"peers waiting: {told['waiting']}"]
    lines += [f"{name}: {identity}" for name, identity in told["contestants"].items()]
    for series in told["series"]:
        recipe = " ".join(f"{key}={value}" for key, value in series["environment"].items())
        ranks = ranks_text(series)
        words = " ".join((series["program"], *told["words"], *series["words"]))
        lines.append(f"{series['name']}: {recipe} mpiexec -n {ranks} {words}".replace(":  ", ": "))
    return ("<details><summary>How</summary><pre>" + escape("\n".join(lines)) + "</pre></details>")


def ranks_text(series: Mapping[str, Any]) -> str:
    parts = [str(series["ranks"])] if series["ranks"] else []
    parts += [f"{series['ranks_per_x']}x"] if series["ranks_per_x"] else []
    return "+".join(parts)


def inline(plot: pathlib.Path, prefix: str) -> str:
    """Returns the picture itself, with ids of its own, since all pictures share one page."""
    text = plot.read_text(encoding="utf-8")
    text = text[text.index("<svg"):]
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}-", text)
    return text

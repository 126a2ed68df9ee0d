# SPDX-License-Identifier: BSD-3-Clause
"""All papers and figures: PAPER of every file in ../figures."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Sequence

import figures

from .figure import At, Figure, Paper


class Unknown(Exception):
    """A name that no figure or paper has. The text lists the known ones."""


def papers() -> list[Paper]:
    names = sorted(module.name for module in pkgutil.iter_modules(figures.__path__))
    found = [importlib.import_module(f"figures.{name}").PAPER for name in names]
    for paper in found:
        for figure in paper.figures:
            check(paper, figure)
    return found


def check(paper: Paper, figure: Figure) -> None:
    """Asserts that a figure does not contradict itself, which would be an error in its file."""
    names = [series.name for series in figure.series]
    assert figure.id.startswith(paper.id + "-"), figure.id
    assert len(set(names)) == len(names), f"{figure.id}: two series of one name"
    assert figure.xs and figure.metrics, figure.id
    keys = {metric.key for metric in figure.metrics}
    for claim in figure.claims:
        assert claim.metric is None or claim.metric in keys, f"{figure.id}: metric {claim.metric}"
        for at in filter(None, (claim.above, claim.below)):
            assert isinstance(at, At) and at.series in names, f"{figure.id}: series {at.series}"


def choose(all_papers: Sequence[Paper], figure_ids: Sequence[str],
           paper_ids: Sequence[str]) -> list[Figure]:
    """Returns the figures of these ids, in the papers' order. p1-3 stands for p1-3a, p1-3b and so on."""
    every = [figure for paper in all_papers for figure in paper.figures]
    chosen = set()
    for name in figure_ids:
        found = [f.id for f in every if f.id == name or f.id[:-1] == name and f.id[-1].isalpha()]
        if not found:
            raise Unknown(f"unknown figure {name}: there are {', '.join(f.id for f in every)}")
        chosen.update(found)
    for name in paper_ids:
        found = [f.id for paper in all_papers if paper.id == name for f in paper.figures]
        if not found:
            raise Unknown(f"unknown paper {name}: there are {', '.join(p.id for p in all_papers)}")
        chosen.update(found)
    return [figure for figure in every if figure.id in chosen]

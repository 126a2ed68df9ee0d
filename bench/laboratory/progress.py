# SPDX-License-Identifier: BSD-3-Clause
"""Says which point is being measured, and how long all points will still take."""

from __future__ import annotations

import sys
from typing import Hashable, Sequence


class Progress:
    """The progress. `ahead` are the points still to be measured. A point is expected to take as long as its like before."""

    def __init__(self, ahead: Sequence[Hashable], first_guess_s: float) -> None:
        self._ahead = list(ahead)
        self._guess = first_guess_s
        self._total = len(ahead)
        self._taken: dict[Hashable, float] = {}
        self._live = sys.stderr.isatty()

    def more(self, ahead: Sequence[Hashable]) -> None:
        self._ahead = [*ahead, *self._ahead]
        self._total += len(ahead)

    def begin(self, what: str) -> None:
        done = self._total - len(self._ahead)
        text = f"[{done + 1}/{self._total}, {duration(self.left_s())} left] {what}"
        if self._live:
            print(f"\r\033[K{text[:120]}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def done(self, which: Hashable, seconds: float) -> None:
        self._taken[which] = seconds
        self.drop(which)

    def drop(self, which: Hashable) -> None:
        """Drops a point that has been measured, or will not be."""
        self._ahead.remove(which)

    def left_s(self) -> float:
        mean = sum(self._taken.values()) / len(self._taken) if self._taken else self._guess
        return sum(self._taken.get(which, mean) for which in self._ahead)

    def say(self, text: str) -> None:
        """Prints a line that stays."""
        start = "\r\033[K" if self._live else ""
        print(start + text, file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"

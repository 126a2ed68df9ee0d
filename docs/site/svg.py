# SPDX-License-Identifier: BSD-3-Clause
"""Pictures as SVG, of text, boxes, arrows and plots. They need nothing but Python."""

import html
import math

COLOURS = ("#00796b", "#e07b39", "#5c6bc0", "#8d6e63", "#9e9e9e")
FONT = 'font-family="system-ui, sans-serif"'


class Picture:
    def __init__(self, width, height, title):
        self.width, self.height = width, height
        self.parts = [f"<title>{html.escape(title)}</title>",
                      '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
                      'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="#455a64"/></marker></defs>',
                      f'<rect width="{width}" height="{height}" fill="#fff"/>']

    def text(self, x, y, words, size=14, anchor="middle", colour="#263238", weight="normal"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" '
                          f'font-weight="{weight}" {FONT}>{html.escape(words)}</text>')

    def box(self, x, y, width, height, fill, words="", size=14, stroke="none", colour="#fff"):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5" fill="{fill}" '
                          f'stroke="{stroke}"/>')
        lines = words.split("\n") if words else []
        for i, line in enumerate(lines):
            self.text(x + width / 2, y + height / 2 + size * (0.35 + 1.25 * (i - (len(lines) - 1) / 2)), line, size, colour=colour)

    def line(self, points, colour="#455a64", width=1.5, tip=False, dash=""):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"'
                          + (' marker-end="url(#tip)"' if tip else "") + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")

    def dot(self, x, y, colour):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>')

    def __str__(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
                f'height="{self.height}" role="img">\n' + "\n".join(self.parts) + "\n</svg>\n")


LEFT, RIGHT, TOP, BOTTOM = 70, 20, 70, 55


class Plot(Picture):
    """A frame with names below. At the left it has a scale from `low` to `high`, in steps or in powers of ten."""

    def __init__(self, title, unit, names, series, logarithmic):
        super().__init__(760, 380, title)
        self.names, self.series, self.logarithmic = names, series, logarithmic
        values = [value for row in series.values() for value in row if value is not None]
        if not values:
            raise ValueError(f"nothing to draw for {title}")
        self.low, self.high, marks = self.scale(min(values), max(values))
        self.text(self.width / 2, 24, title, 16, weight="bold")
        for mark in marks:
            y = self.y(mark)
            self.line([(LEFT, y), (self.width - RIGHT, y)], "#cfd8dc", 1)
            self.text(LEFT - 8, y + 4, f"{mark:g}", 12, "end")
        self.text(LEFT - 8, TOP - 12, unit, 12, "end")
        for i, name in enumerate(names):
            self.text(self.x(i), self.height - BOTTOM + 20, name, 12)
        # The names of the series, side by side.
        x = LEFT + 10
        for colour, name in zip(COLOURS, series):
            self.box(x, 40, 12, 12, colour)
            self.text(x + 18, 51, name, 12, "start")
            x += 40 + 7.5 * len(name)

    def scale(self, least, most):
        if self.logarithmic:
            low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
            return low, max(high, low + 1), [10.0 ** power for power in range(low, max(high, low + 1) + 1)]
        step = 10 ** math.floor(math.log10(most))
        step = next(step * part for part in (0.1, 0.2, 0.5, 1, 2) if most / (step * part) <= 6)
        count = math.ceil(most / step)
        return 0, count * step, [i * step for i in range(count + 1)]

    def x(self, i):
        return LEFT + (self.width - LEFT - RIGHT) * (i + 0.5) / len(self.names)

    def y(self, value):
        value = math.log10(value) if self.logarithmic else value
        return self.height - BOTTOM - (self.height - BOTTOM - TOP) * (value - self.low) / (self.high - self.low)


def bars(title, unit, below, names, series):
    plot = Plot(title, unit, names, series, False)
    plot.text(plot.width / 2, plot.height - 12, below, 12)
    width = (plot.width - LEFT - RIGHT) / len(names) * 0.8 / len(series)
    for which, (colour, row) in enumerate(zip(COLOURS, series.values())):
        for i, value in enumerate(row):
            if value is None:
                continue
            x, y = plot.x(i) + width * (which - len(series) / 2), plot.y(value)
            plot.box(x + 1, y, width - 2, plot.height - BOTTOM - y, colour)
            plot.text(x + width / 2, y - 4, f"{value:g}", 11)
    return plot


def lines(title, unit, below, names, series):
    plot = Plot(title, unit, names, series, True)
    plot.text(plot.width / 2, plot.height - 12, below, 12)
    for colour, row in zip(COLOURS, series.values()):
        points = [(plot.x(i), plot.y(value)) for i, value in enumerate(row) if value is not None]
        plot.line(points, colour, 2.5)
        for x, y in points:
            plot.dot(x, y, colour)
    return plot

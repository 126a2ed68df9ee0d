# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of the site: drawn from tables in bench/results, from the list of folders, and by hand."""

import re

from svg import COLOURS, Picture, bars, lines


def number(cell):
    """Returns the first number in a cell, or None. It is the lower end of a range, and the whole of "1,041"."""
    found = re.search(r"\d[\d,]*(\.\d+)?", cell)
    return float(found[0].replace(",", "")) if found else None


def table(text, heading, first_cell):
    """Returns the rows of the first table below `heading` whose first row contains `first_cell`, as lists of cells."""
    at = re.search(rf"^#+ {re.escape(heading)}$", text, re.M)
    if not at:
        raise LookupError(f"there is no heading '{heading}'")
    rows = []
    for line in text[at.end():].split("\n"):
        if line.startswith("#") and not rows:
            break
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if rows or first_cell in cells:
                rows.append(cells)
        elif rows:
            break
    if len(rows) < 3:
        raise LookupError(f"below '{heading}' there is no table with '{first_cell}'")
    return [rows[0]] + rows[2:]


def rows_named(rows, names):
    """Returns the numbers of the first row that begins with each name, by name."""
    found = {}
    for name in names:
        row = next((row for row in rows[1:] if row[0] == name), None)
        if row is None:
            raise LookupError(f"a table has no row '{name}'")
        found[name] = [number(cell) for cell in row[1:]]
    return found


def threads(results):
    rows = table((results / "messages.md").read_text(), "Message rate: threads against processes", "pairs")
    return bars("Message rate, 0 bytes", "million/s", "pairs of threads of two processes, or pairs of processes",
                [row[0] for row in rows[1:]],
                {"threads": [number(row[1]) for row in rows[1:]], "processes": [number(row[2]) for row in rows[1:]]})


def threads_beside_others(results):
    rows = table_with((results / "messages.md").read_text(), "Open MPI over UCX, yielding")
    return bars("Four pairs of threads or processes, beside other libraries", "million/s", "0 bytes, one communicator",
                [row[0] for row in rows[1:]],
                {"threads": [number(row[1]) for row in rows[1:]], "processes": [number(row[2]) for row in rows[1:]]})


def table_with(text, first_cell):
    """Returns the table one of whose rows begins with `first_cell`."""
    block = []
    for line in text.split("\n") + [""]:
        if line.startswith("|"):
            block.append([cell.strip() for cell in line.strip("|").split("|")])
            continue
        if any(row[0] == first_cell for row in block):
            return [block[0]] + block[2:]
        block = []
    raise LookupError(f"no table has a row '{first_cell}'")


def pingpong(results):
    rows = table((results / "messages.md").read_text(), "Through rings of payload", "64 KiB")
    series = rows_named(rows, ("Heddle", "Open MPI over UCX", "Intel MPI", "MPICH"))
    return lines("Half a round trip between two ranks", "us", "size of the message", rows[0][1:], series)


def collectives(results):
    rows = table((results / "collectives.md").read_text(), "Two ranks beside other libraries", "0 / 8 B")
    names, ours, best = [], [], []
    for mine, peer in zip(rows[1::2], rows[2::2]):
        if (mine[1], peer[1]) != ("Heddle", "best peer"):
            raise LookupError(f"rows of {mine[0]} are not Heddle's and the best peer's")
        names.append(mine[0])
        ours.append(number(mine[2]))
        best.append(number(peer[2]))
    return bars("Collectives of 8 bytes, two ranks", "us", "the best peer: Open MPI over UCX, mostly", names,
                {"Heddle": ours, "best peer": best})


def waiting(results):
    rows = table((results / "messages.md").read_text(), "A partner that has waited", "waited, us")
    series = rows_named(rows, ("round trip, us", "before"))
    return lines("Round trip to a partner that has waited", "us", "it has waited for so many microseconds", rows[0][1:],
                 {"now": series["round trip, us"], "slept after 256 polls": series["before"]})


def message(_):
    picture = Picture(760, 330, "The way of a message")
    picture.box(10, 10, 235, 310, "#e0f2f1", stroke="#80cbc4")
    picture.box(515, 10, 235, 310, "#e0f2f1", stroke="#80cbc4")
    picture.box(275, 40, 210, 280, "#fff8e1", stroke="#ffd54f")
    picture.text(127, 32, "process 0", 14, weight="bold")
    picture.text(632, 32, "process 1", 14, weight="bold")
    picture.text(380, 60, "memory that both share", 14, weight="bold")
    for i, (tag, colour) in enumerate(((7, COLOURS[0]), (8, COLOURS[1]), (9, COLOURS[2]))):
        y = 80 + 80 * i
        picture.box(25, y, 95, 52, colour, f"thread {i}\nSend tag {tag}", 12)
        picture.box(148, y, 82, 52, "#fff", f"outbox\nof {tag}", 12, colour, "#263238")
        for cell in range(5):
            picture.box(298 + 34 * cell, y + 10, 28, 32, colour if cell in (1, 2) else "#fff", stroke=colour)
        picture.box(530, y, 82, 52, "#fff", f"matching\nof {tag}", 12, colour, "#263238")
        picture.box(640, y, 95, 52, colour, f"thread {i}\nRecv tag {tag}", 12)
        for begin, end in ((120, 146), (230, 294), (468, 526), (612, 638)):
            picture.line([(begin, y + 26), (end, y + 26)], colour, 2, True)
    picture.text(380, 308, "a ring for each instance", 12)
    return picture


def threads_and_processes(_):
    picture = Picture(760, 300, "Threads against processes")
    for left, title, inner, note in ((10, "one process for each core", 4, "four copies of the data, messages between neighbours"),
                                     (390, "one process, a thread for each core", 1, "one copy; messages to other nodes only")):
        picture.text(left + 180, 26, title, 15, weight="bold")
        picture.box(left, 40, 360, 215, "#fafafa", stroke="#b0bec5")
        for i in range(4):
            x = left + 15 + 86 * i
            if inner == 4:
                picture.box(x - 4, 52, 78, 190, "#e0f2f1", stroke="#00796b")
                picture.box(x + 4, 120, 62, 70, "#80cbc4", "its data", 12, colour="#263238")
            picture.box(x + 4, 62, 62, 40, COLOURS[0] if inner == 4 else COLOURS[1], "core", 12)
        for i in range(3 if inner == 4 else 0):
            picture.line([(left + 66 + 86 * i, 215), (left + 122 + 86 * i, 215)], "#455a64", 2, True)
        if inner == 1:
            picture.box(left + 8, 52, 344, 190, "none", stroke="#e07b39")
            picture.box(left + 19, 120, 322, 70, "#ffccbc", "data of all threads", 13, colour="#263238")
            picture.text(left + 180, 220, "each thread has a path of its own to MPI", 12)
        picture.text(left + 180, 280, note, 13)
    return picture


def folders(source):
    """Draws tests/repository/layers.txt, one line in a row: no folder further down may include one of a row above it."""
    rows = [line.split() for line in (source / "tests/repository/layers.txt").read_text().split("\n")
            if line and not line.startswith("#")]
    if ["api"] not in rows:
        raise LookupError("layers.txt has no line 'api'")
    rows = rows[rows.index(["api"]):]  # above lie tests and tools
    picture = Picture(760, 40 + 44 * len(rows), "The folders of src")
    for level, names in enumerate(rows):
        share = 740 / len(names)
        for i, name in enumerate(names):
            tint = level / (len(rows) - 1)
            colour = "#" + "".join(f"{round(a + (b - a) * tint):02x}" for a, b in zip((0, 121, 107), (69, 90, 100)))
            picture.box(10 + share * i + 2, 14 + 44 * level, share - 4, 36, colour, name, 14)
    picture.text(380, picture.height - 6, "a file includes what lies in its own folder, or in a line below", 12)
    return picture


def draw(source, folder):
    results = source / "bench/results"
    folder.mkdir(parents=True, exist_ok=True)
    for name, function, what in (("threads", threads, results), ("beside-others", threads_beside_others, results),
                                 ("pingpong", pingpong, results), ("collectives", collectives, results),
                                 ("waiting", waiting, results), ("message", message, source),
                                 ("threads-and-processes", threads_and_processes, source), ("folders", folders, source)):
        (folder / f"{name}.svg").write_text(str(function(what)))

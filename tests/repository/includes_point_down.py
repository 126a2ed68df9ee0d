# SPDX-License-Identifier: BSD-3-Clause
"""Includes point downwards only: the order of the folders is in layers.txt. Unit tests lie beside the
code, but stand above it all."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent.parent / "src"

depth = {}
lines = [line for line in (HERE / "layers.txt").read_text().splitlines() if line and line[0] != "#"]
for number, line in enumerate(lines):
    for folder in line.split():
        depth[folder] = number



def folder_of(path):
    """Returns the innermost folder of `path` that has a place in layers.txt, or else the outermost one."""
    known = [str(parent) for parent in Path(path).parents if str(parent) in depth]
    return known[0] if known else Path(path).parts[0]


wrong = []
for file in sorted(SOURCES.rglob("*")):
    if file.suffix not in {".hpp", ".cpp", ".def"}:
        continue
    relative = file.relative_to(SOURCES)
    folder = "testing" if file.name.endswith("_test.cpp") else folder_of(relative)
    if folder not in depth:
        wrong.append(f"src/{relative}: layers.txt does not know the folder {folder}")
        continue
    for number, line in enumerate(file.read_text().splitlines(), 1):
        include = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not include:
            continue
        target = include.group(1)
        where = f"src/{relative}:{number}: {target}"
        if target == "mpi.h":
            continue
        if not (SOURCES / target).exists():
            wrong.append(f"{where} is no path from src/")
        elif target.startswith("testing/") and file.stem.endswith("_test"):
            continue
        elif depth.get(folder_of(target), -1) < depth[folder]:
            wrong.append(f"{where} is above {folder}")

print("\n".join(wrong))
sys.exit(1 if wrong else 0)

# SPDX-License-Identifier: BSD-3-Clause
"""Every source file names its licence in its first line (the second, after #!)."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["abi", "bench", "cmake", "cmd", "examples", "include", "src", "tests", "tools", ".ci"]
SUFFIXES = {".h", ".hpp", ".c", ".cpp", ".py", ".sh", ".in", ".cmake", ".def", ".map"}

wrong = []
for folder in FOLDERS:
    for file in sorted((ROOT / folder).rglob("*")):
        known = file.suffix in SUFFIXES or file.name in {"CMakeLists.txt", "run"}
        if not file.is_file() or not known or file.name.endswith(".pc.in"):
            continue
        lines = file.read_text().splitlines()
        first = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
        if not first or "SPDX-License-Identifier: BSD-3-Clause" not in first[0]:
            wrong.append(str(file.relative_to(ROOT)))

print("\n".join(wrong))
sys.exit(1 if wrong else 0)

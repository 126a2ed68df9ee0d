# SPDX-License-Identifier: BSD-3-Clause
"""docs/TOOLS.md has the tables that `heddle info --markdown` prints.

    manual_is_current.py HEDDLE [--write]
"""

import subprocess
import sys
from pathlib import Path

MANUAL = Path(__file__).resolve().parents[2] / "docs" / "TOOLS.md"
BEGIN, END = "<!-- heddle info --markdown -->\n", "<!-- end -->\n"

tables = subprocess.run([sys.argv[1], "info", "--markdown"], check=True, capture_output=True, text=True).stdout
text = MANUAL.read_text()
before, rest = text.split(BEGIN)
_, after = rest.split(END)
current = f"{before}{BEGIN}\n{tables}\n{END}{after}"
if "--write" in sys.argv:
    MANUAL.write_text(current)
elif current != text:
    print(f"docs/TOOLS.md is not current: {sys.argv[0]} {sys.argv[1]} --write")
    sys.exit(1)

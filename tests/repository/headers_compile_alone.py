# SPDX-License-Identifier: BSD-3-Clause
"""Every header under src/ compiles alone, and does no harm when included twice.

    headers_compile_alone.py COMPILER
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
compiler = sys.argv[1]


def problem(header: Path) -> str:
    name = header.relative_to(ROOT / "src").as_posix()
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-xc++", "-",
               f"-I{ROOT}/src", f"-I{ROOT}/include", '-DHEDDLE_VERSION="0"']
    text = f'#include "{name}"\n#include "{name}"\n'
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False).stderr


with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
    problems = [p for p in pool.map(problem, sorted((ROOT / "src").rglob("*.hpp"))) if p]
print("\n".join(problems))
sys.exit(1 if problems else 0)

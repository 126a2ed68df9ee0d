# SPDX-License-Identifier: BSD-3-Clause
"""Every header under src/ compiles alone, and does no harm when included twice.

    headers_compile_alone.py COMPILER

The build has compiled a header alone if a source file includes it before anything else. This test compiles the
others; those of the network only if libfabric's headers are there.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src"
compiler = sys.argv[1]


def first_included(source: Path) -> str:
    found = re.search(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', source.read_text(), re.MULTILINE)
    return found.group(1) if found else ""


def errors(text: str) -> str:
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-xc++", "-",
               f"-I{SOURCES}", f"-I{ROOT}/include", '-DHEDDLE_VERSION="0"']
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False).stderr


def problem(name: str) -> str:
    if name.startswith("transport/ofi/") and not has_libfabric:
        return ""
    return errors(f'#include "{name}"\n')


has_libfabric = not errors("#include <rdma/fabric.h>\n")


compiled = {first_included(source) for source in SOURCES.rglob("*.cpp")}
headers = sorted(header.relative_to(SOURCES).as_posix() for header in SOURCES.rglob("*.hpp"))
problems = [f"{name}: no #pragma once" for name in headers
            if not re.search(r"^#pragma once$", (SOURCES / name).read_text(), re.MULTILINE)]
with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
    problems += [p for p in pool.map(problem, [name for name in headers if name not in compiled]) if p]
print("\n".join(problems))
sys.exit(1 if problems else 0)

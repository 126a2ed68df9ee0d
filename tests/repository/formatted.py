# SPDX-License-Identifier: BSD-3-Clause
"""Every C and C++ file is as clang-format 19 would write it (`make format` does)."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["abi", "bench", "cmd", "examples", "foreign", "fortran", "include", "src", "tests"]
SUFFIXES = {".h", ".hpp", ".c", ".cpp"}
AT_ONCE = 40  # files of one call

clang_format = sys.argv[1]
if shutil.which(clang_format) is None:
    print(f"{clang_format} is not installed")
    sys.exit(77)
files = [
    str(file)
    for folder in FOLDERS
    for file in sorted((ROOT / folder).rglob("*"))
    if file.suffix in SUFFIXES and file.is_file()
]


def complaints(some: list[str]) -> str:
    """Returns the changes that clang-format would make in these files; an empty text if there are none."""
    command = [clang_format, "--dry-run", "--Werror", *some]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout if done.returncode else ""


with ThreadPoolExecutor(os.cpu_count()) as pool:
    said = "".join(pool.map(complaints, [files[i : i + AT_ONCE] for i in range(0, len(files), AT_ONCE)]))
print(said)
sys.exit(1 if said else 0)

# SPDX-License-Identifier: BSD-3-Clause
"""product_is_whole.py BUILD: `make install` builds the target `product`, then copies files. Each file that it copies and that
the build makes must belong to that target. A build of everything makes such a file all the same, and hides the mistake."""

import os
import re
import subprocess
import sys
from pathlib import Path

build = Path(sys.argv[1]).resolve()


def ninja(*words):
    return subprocess.run(["ninja", "-C", build, "-t", *words], check=True, capture_output=True, text=True).stdout


copied = set()
for folder, _, files in os.walk(build):  # it passes over folders that other tests remove meanwhile
    if "cmake_install.cmake" in files:
        script = (Path(folder) / "cmake_install.cmake").read_text()
        copied |= {Path(path) for path in re.findall(r'"(/[^"$;]+)"', script)}
targets = {line.split(": ")[0] for line in ninja("targets", "all").splitlines()}
names = {str(path.relative_to(build)) for path in copied if path.is_relative_to(build)}
made = {name for name in names if name in targets or str(build / name) in targets}
words = set(re.split(r"[\s'\"=]+", ninja("commands", "product")))
missing = sorted(name for name in made if name not in words and str(build / name) not in words)
for name in missing:
    print(f"{name} is installed, but the target `product` does not make it")
print(f"{len(made)} files that the build makes are installed")
sys.exit(1 if missing or len(made) < 10 else 0)

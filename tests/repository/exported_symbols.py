# SPDX-License-Identifier: BSD-3-Clause
"""The library exports the functions of mpi.h, two functions for faces, and nothing else. PMPI_X is strong, MPI_X is weak,
and both are the same code.

    exported_symbols.py LIBRARY NM READELF
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
library, nm, readelf = sys.argv[1:4]


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


header = (ROOT / "include" / "mpi.h").read_text()
declared = set(re.findall(r"^\w[\w ]*?\b(P?MPI_\w+)\(", re.sub(r"^typedef.*", "", header, flags=re.M),
                          flags=re.M))
expected = {(name, "T" if name.startswith("P") else "W") for name in declared}

expected |= {("heddle_integer_calls", "T"), ("heddle_address_calls", "T")}

exported = set()
address = {}
for line in output(nm, "--dynamic", "--defined-only", "--format=posix", library).splitlines():
    name, kind, value = line.split()[:3]
    exported.add((name, kind))
    address[name] = value

problems = [f"{name} ({kind}) is exported and not in mpi.h" for name, kind in exported - expected]
problems += [f"{name} ({kind}) is in mpi.h and not exported" for name, kind in expected - exported]
problems += [f"{name} and P{name} are not the same code" for name in declared
             if name.startswith("MPI_") and address.get(name) != address.get("P" + name)]
if len(declared) != 2 * 662:
    problems.append(f"mpi.h declares {len(declared)} functions, not twice 662")
if "[libmpi_abi.so.1]" not in output(readelf, "-d", library).split("SONAME")[1].splitlines()[0]:
    problems.append("the soname is not libmpi_abi.so.1")

print("\n".join(sorted(problems)))
sys.exit(1 if problems else 0)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the C sources of the faces from the data of the standard ABI and of the other ones."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "generator"))
import calls  # noqa: E402
import headers  # noqa: E402
import kinds  # noqa: E402
import tables  # noqa: E402

import facts  # noqa: E402  (kinds has found it)

ABIS = ["mpich", "openmpi"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="folder for what is written")
    parser.add_argument("--list", action="store_true", help="only say which files that would be")
    options = parser.parse_args()
    functions = kinds.functions()
    files = {"heddle_functions.h": calls.heddle_functions(functions), "last_functions.h": calls.last_header(functions),
             "direct_functions.h": calls.direct_header(functions),
             "face_calls.c": calls.calls(functions)}
    for name in ABIS:
        abi = tables.Abi(name)
        files[f"{name}/face_constants.h"] = tables.header(abi)
        files[f"{name}/face_tables.c"] = tables.source(abi)
        files[f"{name}/include/mpi.h"] = headers.header(abi, functions)
        if abi.cxx:
            files[f"{name}/cxx_objects.h"] = headers.cxx_objects(abi)
    for name, text in files.items():
        if options.list:
            print(options.output / name)
        else:
            facts.write_if_changed(options.output / name, text)


if __name__ == "__main__":
    main()

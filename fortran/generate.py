#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Fortran bindings from the data of the ABI: C sources, mpif.h and the modules."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "generator"))
import bindings  # noqa: E402
import c_side  # noqa: E402
import model  # noqa: E402
import modules  # noqa: E402
import others  # noqa: E402

import facts  # noqa: E402  (model has found it)


def c_files(functions, binding):
    files = c_side.chapters(functions, binding)
    files["profiling_names.h"] = c_side.profiling_names(functions, binding, modules.OTHER_PROCEDURES)
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="folder for what is written")
    parser.add_argument("--list", action="store_true", help="only say which files that would be")
    options = parser.parse_args()
    functions = model.functions()
    files = c_files(functions, bindings.STANDARD) | modules.files(functions)
    for binding in bindings.OTHERS:
        written = c_files([f for f in functions if binding.has(f)], binding)
        written |= {"modules.c": others.source(binding)}
        files |= {f"{binding.name}/{name}": text for name, text in written.items()}
    for name, text in files.items():
        if options.list:
            print(options.output / name)
        else:
            facts.write_if_changed(options.output / name, text)


if __name__ == "__main__":
    main()

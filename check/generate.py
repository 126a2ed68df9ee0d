#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the functions of the checker from the data of the ABI. Each has the checks of rules.py around the library's call."""

import argparse
import re
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "abi")]
import facts  # noqa: E402
import rules  # noqa: E402


class Function:
    def __init__(self, of):
        self.name = of.name.removeprefix("MPI_")
        self.base = self.name.removesuffix("_c")
        self.chapter = of.chapter
        self.params = [(p.type, p.name) for p in of.parameters]
        self.formals = [str(p) for p in of.parameters]
        self.actuals = ", ".join(name for _, name in self.params)

    def has(self, name):
        return any(name == p for _, p in self.params)


def functions():
    everything = [Function(f) for f in facts.functions() if f.returns == "int"]
    return [f for f in everything if f.chapter not in rules.LEFT_CHAPTERS and f.base not in rules.LEFT_OUT and
            not f.name.startswith(rules.LEFT_PREFIXES)]


def header(all_functions):
    lines = ["// Written by generate.py.", "#pragma once", '#include "mpi.h"', '#include "places.hpp"', "namespace heddle::check {",
             "/// The functions of a library, by name.", "struct Functions {"]
    lines += [f"    decltype(&PMPI_{name}) {name};" for name in table(all_functions)]
    lines += ["};", "enum class Function : int {"]
    lines += [f"    {name}," for name in names(all_functions)]
    lines += ["};"]
    lines += [f"int checked_{f.name}({', '.join(['Caller from'] + f.formals)});" for f in all_functions
              if f.base in rules.BY_HAND]
    return "\n".join(lines + ["}  // namespace heddle::check", ""])


def datatypes():
    """Returns the name of each predefined datatype by its handle. A handle with several names has the first."""
    found = {}
    for constant in facts.constants():
        if match := re.fullmatch(r"\(\(MPI_Datatype\)(0x[0-9a-fA-F]+)\)", constant.value):
            found.setdefault(match[1], constant.name)
    return found


def table(all_functions):
    return [f.name for f in all_functions] + sorted(rules.NEEDED)


def names(all_functions):
    return list(dict.fromkeys(f.base for f in all_functions))


def checked(f):
    formals = ", ".join(["Caller from"] + f.formals)
    before, after = rules.lines(f)
    if f.base in rules.BY_HAND:
        return []
    level = "Anytime" if f.name.startswith(rules.ANY_TIME_PREFIXES) else "Call"
    return [f"static int checked_{f.name}({formals}) {{",
            f"    if (!is_on()) return library().{f.name}({f.actuals});",
            f"    [[maybe_unused]] const {level} call(Function::{f.base}, from);",
            *[f"    {line}" for line in before],
            f"    const int error = library().{f.name}({f.actuals});",
            *[f"    {line}" for line in after],
            "    return error;", "}"]


def source(all_functions):
    lines = ["// Written by generate.py.", "#include <cstring>", '#include "checks.hpp"', "namespace heddle::check {"]
    for f in all_functions:
        lines += checked(f)
    lines += ["const char* name_of(Function function) noexcept {", "    static const char* const names[] = {"]
    lines += [f'        "MPI_{name}",' for name in names(all_functions)]
    lines += ["    };", "    return names[static_cast<int>(function)];", "}"]
    lines += ["const char* name_of_datatype(std::uint32_t handle) noexcept {", "    switch (handle) {"]
    lines += [f'        case {value}: return "{name}";' for value, name in datatypes().items()]
    lines += ['        default: return "";', "    }", "}"]
    lines += ["void find_functions(Functions& all, void* handle, const char* prefix) noexcept {"]
    lines += [f'    find(all.{name}, handle, prefix, "{name}");' for name in table(all_functions)]
    lines += ["}", "}  // namespace heddle::check", "using namespace heddle::check;"]
    for f in all_functions:
        formals = ", ".join(f.formals) or "void"
        actuals = ", ".join(["HEDDLE_CALLER"] + [name for _, name in f.params])
        lines += [f"HEDDLE_EXPORTED int MPI_{f.name}({formals}) {{",
                  f"    if (const Functions* other = another_mpi()) return other->{f.name}({f.actuals});",
                  f"    return checked_{f.name}({actuals});", "}",
                  f'HEDDLE_EXPORTED __attribute__((alias("MPI_{f.name}"))) int PMPI_{f.name}({formals});',
                  f"static int below_{f.name}({formals}) {{ return checked_{f.name}({actuals}); }}"]
    lines += ["/// The checking function in place of PMPI_`name` of libmpi_abi.so.1, nullptr if there is none: for faces.",
              'HEDDLE_EXPORTED void* heddle_check_function(const char* name) {',
              "    static const struct { const char* name; void* function; } all[] = {"]
    lines += [f'        {{"{f.name}", reinterpret_cast<void*>(&below_{f.name})}},' for f in all_functions]
    lines += ["    };", "    for (const auto& one : all)", "        if (std::strcmp(one.name, name) == 0) return one.function;",
              "    return nullptr;", "}", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="folder for what is written")
    options = parser.parse_args()
    all_functions = functions()
    facts.write_if_changed(options.output / "functions.hpp", header(all_functions))
    facts.write_if_changed(options.output / "functions.cpp", source(all_functions))


if __name__ == "__main__":
    main()

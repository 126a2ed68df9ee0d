# SPDX-License-Identifier: BSD-3-Clause
"""constants.py ABI COMPILER FACES FOLDER: the constants of abi/ABI/facts.json are those of the other library's mpi.h.

It compiles a program with that header, links it with the face, and runs it. The program must find predefined objects by
the header's names, and by the integers that the library's mpif.h has. The exit code is 77 if the header is not installed.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

import facts

SKIPPED = 77
FEWEST = 250  # fewer names mean that another header was read
FOLDERS = {
    "mpich": ["/usr/include/x86_64-linux-gnu/mpich", "/usr/include/mpich-x86_64"],
    "openmpi": ["/usr/lib/x86_64-linux-gnu/openmpi/include", "/usr/include/openmpi-x86_64"],
}


def header_folder(abi):
    given = os.environ.get(f"HEDDLE_{abi.upper()}_INCLUDE")
    for folder in [given] if given else FOLDERS[abi]:
        if pathlib.Path(folder, "mpi.h").exists():
            return folder
    print(f"not checked: mpi.h of {abi} is not installed")
    sys.exit(SKIPPED)


HANDLES = ["Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Win"]


def conversions(way):
    return ", ".join(f"MPI_{h}: MPI_{'Type' if h == 'Datatype' else h}_{way}" for h in HANDLES)


def numbers_of_header(folder):
    """Returns the integers of handles in Fortran's header, if it defines them as parameters."""
    texts = [path.read_text() for path in pathlib.Path(folder).glob("mpif-*handles.h")]
    return {n: int(v) for text in texts for n, v in re.findall(r"parameter \((MPI_\w+)=(\d+)\)", text)}


def program(constants, objects, numbers):
    checks = [f'    CHECK({name}, {value}LL)' for name, value in constants.items()]
    checks += [f'    OBJECT({name}, {symbol})' for name, symbol in objects.items()]
    checks += [f'    NUMBER({name}, {number})' for name, number in numbers.items()]
    return "\n".join([
        "#include <mpi.h>", "#include <stdio.h>", "static int wrong, seen;",
        "/* A type that this version of the library does not have may be there as the null one. */",
        "#define CHECK(name, value) ++seen; if ((unsigned)(long long)(name) != (unsigned)(value) && \\",
        "    (long long)(name) != (long long)MPI_DATATYPE_NULL) \\",
        '    ++wrong, printf(#name " is %lld, not %lld\\n", (long long)(name), (long long)(value));',
        "#define OBJECT(name, symbol) ++seen; if ((void*)(name) != (void*)&symbol) ++wrong, puts(#name);",
        f"#define NUMBER(name, value) if (_Generic((name), {conversions('c2f')})(name) != value) \\",
        '    ++wrong, puts(#name " has another integer"); \\',
        f"    if (_Generic((name), {conversions('f2c')})(value) != name) ++wrong, puts(#name \" is not found\");",
        "int main(void) {", *checks, f"    if (seen < {FEWEST}) ++wrong, printf(\"only %d constants\\n\", seen);",
        "    return wrong != 0;", "}", ""])


def main(abi, compiler, faces, folder):
    include = header_folder(abi)
    data = json.loads((facts.FOLDER / abi / "facts.json").read_text())
    names = {**data["constants"], **data.get("objects", {})}
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    source, binary = folder / "constants.c", folder / "constants"
    library = data["library"]
    known = {c.name for c in facts.constants()}
    numbers = numbers_of_header(include)
    if numbers and set(numbers.items()) - set(data["fortran"].items()):
        sys.exit(f"mpif.h has other integers: {sorted(set(numbers.items()) - set(data['fortran'].items()))}")
    while True:  # names that this version of the header does not have are left out
        constants = {n: v for n, v in names.items() if n in data["constants"]}
        objects = {n: v for n, v in names.items() if n not in data["constants"]}
        source.write_text(program(constants, objects, {n: v for n, v in numbers.items() if n in objects and n in known}))
        result = subprocess.run([compiler, "-w", "-fmax-errors=0", "-I", include, source, f"{faces}/{library}", "-o",
                                 binary], capture_output=True, text=True, errors="replace")
        if result.returncode == 0:
            break
        lines = source.read_text().split("\n")
        missing = set()
        for line in re.findall(r"constants\.c:(\d+):\d+: error", result.stderr):
            missing |= set(re.findall(r"(?:CHECK|OBJECT)\((\w+),", lines[int(line) - 1]))
        if not missing:
            sys.exit(result.stderr)
        names = {n: v for n, v in names.items() if n not in missing}
    environment = dict(os.environ, LD_LIBRARY_PATH=faces)
    sys.exit(subprocess.run([binary], env=environment).returncode)


if __name__ == "__main__":
    main(*sys.argv[1:])

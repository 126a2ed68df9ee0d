# SPDX-License-Identifier: BSD-3-Clause
"""Sizes, layouts and constants of mpi.h are those of the ABI, as a compiled program sees them. The names that
MPI 3.0 removed are absent.

    abi_values.py CC LIBRARY_FOLDER SCRATCH
"""

import re
import subprocess
import sys
from pathlib import Path

import facts

ROOT = Path(__file__).resolve().parents[2]
cc, libraries, scratch = sys.argv[1], sys.argv[2], Path(sys.argv[3])

REMOVED = ["MPI_Address", "MPI_Errhandler_create", "MPI_Errhandler_get", "MPI_Errhandler_set",
           "MPI_Type_extent", "MPI_Type_hindexed", "MPI_Type_hvector", "MPI_Type_lb",
           "MPI_Type_struct", "MPI_Type_ub", "MPI_Handler_function", "MPI_LB", "MPI_UB",
           "MPI_COMBINER_HVECTOR_INTEGER", "MPI_COMBINER_HINDEXED_INTEGER",
           "MPI_COMBINER_STRUCT_INTEGER"]


def integer(value: str) -> str:
    """Returns the number in "((MPI_Op)0x20)", "((void*)1)" or "-32766"; a name stays a name."""
    return re.search(r"(-?\w+)\)?$", value).group(1)


lines = [f"EXPECT((long long)(intptr_t)({c.name}) == (long long)(intptr_t)({integer(c.value)}));"
         for c in facts.constants()]
offset = 0
for type_, name in facts.status_fields():
    lines.append(f"EXPECT(offsetof(MPI_Status, {name}) == {offset});")
    count = re.search(r"\[(\d+)\]", type_)
    offset += 4 * int(count.group(1) if count else 1)
lines += [f"EXPECT(sizeof(MPI_Status) == {offset});", "EXPECT(sizeof(MPI_Status) == 32);",
          "EXPECT(sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8);",
          "EXPECT(sizeof(MPI_Aint) == sizeof(void*) && sizeof(MPI_Comm) == sizeof(void*));",
          "EXPECT((MPI_Count)-1 < 0 && (MPI_Offset)-1 < 0 && (MPI_Aint)-1 < 0);",
          "EXPECT(sizeof(MPI_T_cb_safety) == sizeof(int));"]
for function in facts.functions():
    lines.append(f"EXPECT({function.name} != 0 && {function.profiling_name} != 0);")

scratch.mkdir(parents=True, exist_ok=True)
source, program = scratch / "abi_values.c", scratch / "abi_values"
source.write_text("""#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
static int failures;
#define EXPECT(what) do { if (!(what)) { puts(#what); ++failures; } } while (0)
int main(void) {
    """ + "\n    ".join(lines) + "\n    return failures != 0;\n}\n")
subprocess.run([cc, "-std=c99", "-w", f"-I{ROOT}/include", str(source), "-o", str(program),
                f"-L{libraries}", "-lmpi_abi", f"-Wl,-rpath,{libraries}"], check=True)
result = subprocess.run([str(program)], check=False).returncode

header = (ROOT / "include" / "mpi.h").read_text()
header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
for name in REMOVED:
    if re.search(rf"\b{name}\b", header):
        print(f"{name} is in mpi.h")
        result = 1
sys.exit(result)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""generate.py ABI FOLDER: the functions of a face by number, and its predefined objects and error classes by name.

    every_call_marks.h      MPI_X(...) marks X as called; functions that mpi.h does not have
    every_call_tables.c     names of the functions, and why some are not to be called
    every_call_constants.h  TYPE(MPI_INT, MPI_INT) and so on, for each constant of the ABI; the second is its other name
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "faces/generator"))
import kinds  # noqa: E402
import tables  # noqa: E402

import facts  # noqa: E402  (kinds has found it)

REASONS = {"MPI_Abort": "it ends the job"}
# Functions that only faces have: those that MPI 3.0 removed, and extensions.
OTHERS = {
    "MPI_Address": "int(void* location, MPI_Aint* address)",
    "MPI_Errhandler_create": "int(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler)",
    "MPI_Errhandler_get": "int(MPI_Comm comm, MPI_Errhandler* errhandler)",
    "MPI_Errhandler_set": "int(MPI_Comm comm, MPI_Errhandler errhandler)",
    "MPI_Type_extent": "int(MPI_Datatype datatype, MPI_Aint* extent)",
    "MPI_Type_hindexed": "int(int count, int lengths[], MPI_Aint places[], MPI_Datatype old, MPI_Datatype* type)",
    "MPI_Type_hvector": "int(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype* type)",
    "MPI_Type_lb": "int(MPI_Datatype datatype, MPI_Aint* displacement)",
    "MPI_Type_struct": "int(int count, int lengths[], MPI_Aint places[], MPI_Datatype types[], MPI_Datatype* type)",
    "MPI_Type_ub": "int(MPI_Datatype datatype, MPI_Aint* displacement)",
    "MPIX_Query_cuda_support": "int(void)",
    "MPIX_Query_hip_support": "int(void)",
    "MPIX_Query_ze_support": "int(void)",
    "MPIX_Query_rocm_support": "int(void)",
    "MPIX_GPU_query_support": "int(int kind, int* supported)",
}
FORTRAN = [f"{'MPI_Type' if handle == 'MPI_Datatype' else handle}_{way}"
           for handle in [*kinds.HANDLES, "MPI_Status"] for way in ("c2f", "f2c")]


def names():
    return sorted([*(f.name for f in kinds.functions()), *OTHERS, *FORTRAN])


def marks(functions):
    lines = ["/* Written by generate.py. */", f"enum {{ functions_of_face = {len(functions)} }};",
             "extern unsigned char seen_functions[functions_of_face];",
             "extern const char* const names_of_functions[functions_of_face];",
             "extern const char* const reason_not_to_call[functions_of_face];"]
    for name, declaration in OTHERS.items():
        returns, parameters = declaration.split("(", 1)
        lines.append(f"{returns} {name}({parameters};")
    lines += [f"#define {name}(...) (seen_functions[{i}] = 1, {name}(__VA_ARGS__))" for i, name in enumerate(functions)]
    return "\n".join([*lines, ""])


def table(functions, excuses):
    reasons = [f'"{excuses[name]}"' if name in excuses else "NULL" for name in functions]
    return "\n".join([
        "/* Written by generate.py. */", '#include "every_call.h"', "unsigned char seen_functions[functions_of_face];",
        "const char* const names_of_functions[] = {" + ", ".join(f'"{name}"' for name in functions) + "};",
        "const char* const reason_not_to_call[] = {" + ", ".join(reasons) + "};", ""])


def constants(abi):
    lines, seen, handles = ["/* Written by generate.py. */"], set(), tables.standard_handles()
    for name, standard in handles.items():
        handle, other = standard[0], next((n for n, its in tables.standard().items() if its == name), name)
        value = abi.constants.get(name, abi.objects.get(name))
        if value is None or (handle, value) in seen:  # two names, one object: the first
            continue
        seen.add((handle, value))
        if handle == "MPI_Datatype":
            lines.append(f"TYPE({name}, {other})")
        elif handle == "MPI_Op":
            lines.append(f"OP({name})")
    lines += [f"ERROR_CLASS({name})" for name in tables.members("error_class") if name in abi.constants]
    return "\n".join([*lines, ""])


def main(name, folder):
    abi, functions = tables.Abi(name), names()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    facts.write_if_changed(folder / "every_call_marks.h", marks(functions))
    facts.write_if_changed(folder / "every_call_tables.c", table(functions, REASONS))
    facts.write_if_changed(folder / "every_call_constants.h", constants(abi))


if __name__ == "__main__":
    main(*sys.argv[1:])

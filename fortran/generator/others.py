# SPDX-License-Identifier: BSD-3-Clause
"""The symbols that compilers make of another library's modules, in C: constants, module procedures, MPI_Sizeof."""

import json

import model
from model import facts

WRITTEN = """/* SPDX-License-Identifier: BSD-3-Clause */
/* Written by fortran/generate.py. */

#include "fortran.h"

#define SYMBOL(type, name, symbol, value)              \\
    extern EXPORTED type name __asm__(symbol);         \\
    type name = value;
#define COMPARISON(name, symbol, operator)                                          \\
    EXPORTED int name(const MPI_Fint* a, const MPI_Fint* b) __asm__(symbol);        \\
    int name(const MPI_Fint* a, const MPI_Fint* b) { return *a operator *b; }
#define SIZEOF(name, symbol, bytes)                                                               \\
    EXPORTED void name(const void* x, MPI_Fint* size, MPI_Fint* ierror) __asm__(symbol);          \\
    void name(const void* x, MPI_Fint* size, MPI_Fint* ierror) {                                  \\
        (void)x;                                                                                  \\
        *size = bytes;                                                                            \\
        answer(ierror, MPI_SUCCESS);                                                              \\
    }
"""
HANDLES = [handle.removeprefix("MPI_").lower() for handle in model.HANDLES]
BYTES = {"character": 1, "logical": 4, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "real32": 4, "real64": 8,
         "real128": 16, "complex32": 8, "complex64": 16, "complex128": 32}
RANKS = ["scalar", *(f"r{rank}" for rank in range(1, 16))]
OLD_BYTES = {"ch": 1, "cx": 8, "d": 8, "i": 4, "i1": 1, "i2": 2, "i8": 8, "l": 4, "r": 4}

STATUSES_OF_MPICH = """
#define STATUS(name, symbol, first, second)                                                         \\
    EXPORTED void name(MPI_Status* first, MPI_Status* second, MPI_Fint* ierror) __asm__(symbol);    \\
    void name(MPI_Status* first, MPI_Status* second, MPI_Fint* ierror) {                            \\
        *to = *from;                                                                                \\
        answer(ierror, MPI_SUCCESS);                                                                \\
    }
STATUS(status_f2f08, "__mpi_f08_types_MOD_mpi_status_f2f08", from, to)
STATUS(status_f082f, "__mpi_f08_types_MOD_mpi_status_f082f", from, to)
#define ASSIGNMENT(name, symbol)                                                     \\
    EXPORTED void name(MPI_Status* to, const MPI_Status* from) __asm__(symbol);      \\
    void name(MPI_Status* to, const MPI_Status* from) { *to = *from; }
ASSIGNMENT(status_f08_assign_c, "__mpi_f08_types_MOD_mpi_status_f08_assign_c")
ASSIGNMENT(status_c_assign_f08, "__mpi_f08_types_MOD_mpi_status_c_assign_f08")"""


def handle_constants(data):
    """Returns name -> integer of the predefined handles that Fortran has."""
    if "fortran" in data:
        return data["fortran"]
    handles = {c.name for c in facts.constants() if any(c.value.startswith(f"(({h})0x") for h in model.HANDLES)}
    handles |= {c.name for c in facts.constants() if c.value in handles} | {"MPI_LB", "MPI_UB"}
    return {name: value for name, value in data["constants"].items() if name in handles}


def symbols(names, symbol, value_of):
    return [f'SYMBOL({"const " if "MOD" in symbol else ""}MPI_Fint, {symbol.split("_MOD_")[0].strip("_")}_{n.lower()}, '
            f'"{symbol}{n.lower()}", {value_of[n]})' for n in names]


def of_mpich(constants):
    lines = symbols(constants, "__mpi_f08_compile_constants_MOD_", constants)
    for h in HANDLES:
        for word, operator in (("eq", "=="), ("neq", "!=")):
            for form in (word, f"f08_{word}_f", f"f_{word}_f08"):
                lines.append(f'COMPARISON({h}_{form}, "__mpi_f08_types_MOD_mpi_{h}_{form}", {operator})')
            lines.append(f'COMPARISON(old_{h}_{word}, "__mpi_constants_MOD_{h}{word}", {operator})')
    for kind, size in BYTES.items():
        name = kind if kind in ("character", "logical") else "x" + kind
        lines.append(f'SIZEOF(sizeof_{name}, "__mpi_f08_types_MOD_mpi_sizeof_{name}", {size})')
    for kind, size in OLD_BYTES.items():
        for name in (kind, kind + "v"):
            lines.append(f'SIZEOF(old_sizeof_{name}, "__mpi_sizeofs_MOD_mpi_sizeof_{name}", {size})')
    return [*lines, STATUSES_OF_MPICH]


def of_openmpi(constants):
    lines = symbols(constants, "__mpi_f08_types_MOD_", constants) + symbols(constants, "ompi_f08_", constants)
    short = {n.removesuffix("_T"): value for n, value in constants.items() if n.endswith("_T")}
    lines += symbols(short, "ompi_f08_", short)
    for h in HANDLES:
        for word, operator in (("eq", "=="), ("ne", "!=")):
            lines.append(f'COMPARISON({h}_{word}, "__mpi_f08_types_MOD_ompi_{h}_op_{word}", {operator})')
    for kind, size in BYTES.items():
        for rank in RANKS:
            for prefix in ("mpi", "pmpi"):
                name = f"{prefix}_sizeof_{kind}_{rank}_"
                lines.append(f'SIZEOF({name}, "{name}", {size})')
    return lines


def source(binding):
    data = json.loads((facts.FOLDER / binding.name / "facts.json").read_text())
    write = {"mpich": of_mpich, "openmpi": of_openmpi}[binding.name]
    return WRITTEN + "\n" + "\n".join(write(handle_constants(data))) + "\n"

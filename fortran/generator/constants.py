# SPDX-License-Identifier: BSD-3-Clause
"""The constants of the ABI in Fortran, and the sentinels, which are known by their addresses."""

import re
from dataclasses import dataclass

import model
from model import facts

# Lengths of strings: C counts the terminating null character, Fortran has none.
STRING_LENGTHS = re.compile(r"MPI_MAX_(?!.*_T_)")
NOT_IN_FORTRAN = re.compile(r"MPI_T_(?!ERR_)|MPI_F_|MPIX_")

KINDS = {
    "MPI_ADDRESS_KIND": 8, "MPI_COUNT_KIND": 8, "MPI_OFFSET_KIND": 8, "MPI_INTEGER_KIND": 4,
}
# Places in a status, counted from 1.
STATUS = {"MPI_STATUS_SIZE": 8, "MPI_SOURCE": 1, "MPI_TAG": 2, "MPI_ERROR": 3}


@dataclass(frozen=True)
class Constant:
    name: str
    value: int
    handle: str = ""  # its type, such as MPI_Comm; "": no handle
    kind: str = ""  # of INTEGER; "" for the default


@dataclass(frozen=True)
class Sentinel:
    name: str
    symbol: str
    type: str  # "integer", "status", "character"
    shape: str  # as in a declaration: "", "(1)"


SENTINELS = [
    Sentinel("MPI_BOTTOM", "mpi_fortran_bottom_", "integer", ""),
    Sentinel("MPI_IN_PLACE", "mpi_fortran_in_place_", "integer", ""),
    Sentinel("MPI_BUFFER_AUTOMATIC", "mpi_fortran_buffer_automatic_", "integer", ""),
    Sentinel("MPI_UNWEIGHTED", "mpi_fortran_unweighted_", "integer", "(1)"),
    Sentinel("MPI_WEIGHTS_EMPTY", "mpi_fortran_weights_empty_", "integer", "(1)"),
    Sentinel("MPI_ERRCODES_IGNORE", "mpi_fortran_errcodes_ignore_", "integer", "(1)"),
    Sentinel("MPI_STATUS_IGNORE", "mpi_fortran_status_ignore_", "status", ""),
    Sentinel("MPI_STATUSES_IGNORE", "mpi_fortran_statuses_ignore_", "status", "(1)"),
    Sentinel("MPI_ARGV_NULL", "mpi_fortran_argv_null_", "character", "(1)"),
    Sentinel("MPI_ARGVS_NULL", "mpi_fortran_argvs_null_", "character", "(1,1)"),
]

# The predefined callbacks and whether mpi_f08 has them.
PREDEFINED_CALLBACKS = {
    "MPI_NULL_COPY_FN": None, "MPI_DUP_FN": None, "MPI_NULL_DELETE_FN": None,
    "MPI_COMM_NULL_COPY_FN": "MPI_Comm_copy_attr_function", "MPI_COMM_DUP_FN": "MPI_Comm_copy_attr_function",
    "MPI_COMM_NULL_DELETE_FN": "MPI_Comm_delete_attr_function",
    "MPI_TYPE_NULL_COPY_FN": "MPI_Type_copy_attr_function", "MPI_TYPE_DUP_FN": "MPI_Type_copy_attr_function",
    "MPI_TYPE_NULL_DELETE_FN": "MPI_Type_delete_attr_function",
    "MPI_WIN_NULL_COPY_FN": "MPI_Win_copy_attr_function", "MPI_WIN_DUP_FN": "MPI_Win_copy_attr_function",
    "MPI_WIN_NULL_DELETE_FN": "MPI_Win_delete_attr_function",
    "MPI_CONVERSION_FN_NULL": "MPI_Datarep_conversion_function",
    "MPI_CONVERSION_FN_NULL_C": "MPI_Datarep_conversion_function_c",
}


def constants():
    others = {s.name for s in SENTINELS} | set(PREDEFINED_CALLBACKS)
    values, result = {}, []
    for c in facts.constants():
        if NOT_IN_FORTRAN.match(c.name) or c.name in others:
            continue
        plain = re.sub(r"\(\s*\((\w+)\s*\)\s*(.*)\)$", r"\2", c.value)
        cast = re.match(r"\(\s*\((\w+)\s*\)", c.value)
        value, handle, kind = values.get(plain), "", ""
        if value is None:
            value = int(plain, 0)
            handle = cast.group(1) if cast else ""
        else:
            handle = next(r.handle for r in result if r.name == plain)
        if handle in model.INTEGER_KINDS:
            handle, kind = "", model.INTEGER_KINDS[handle]
        if STRING_LENGTHS.match(c.name):
            value -= 1
        values[c.name] = value
        result.append(Constant(c.name, value, handle, kind))
    return result

# SPDX-License-Identifier: BSD-3-Clause
"""mpi.h in the ABI of a face, for tests and for its Fortran bindings: types, constants, and the functions of MPI."""

import re

import calls
import facts
import kinds
import tables

TYPE_OF = {"MPI_IN_PLACE": "void*", "MPI_BOTTOM": "void*", "MPI_BUFFER_AUTOMATIC": "void*", "MPI_ARGV_NULL": "char**",
           "MPI_ARGVS_NULL": "char***", "MPI_ERRCODES_IGNORE": "int*", "MPI_STATUS_IGNORE": "MPI_Status*",
           "MPI_STATUSES_IGNORE": "MPI_Status*", "MPI_DISPLACEMENT_CURRENT": "MPI_Offset"}
# Names of the face's own symbols, by ABI.
SYMBOLS = {
    "mpich": """\
extern int* const MPI_UNWEIGHTED;
extern int* const MPI_WEIGHTS_EMPTY;
extern const MPI_T_pvar_handle MPI_T_PVAR_ALL_HANDLES;
int MPIR_Dup_fn(MPI_Comm, int, void*, void*, void*, int*);
#define MPI_{K}NULL_COPY_FN ((MPI_{T}opy{A}_function*)0)
#define MPI_{K}NULL_DELETE_FN ((MPI_{D}elete{A}_function*)0)
#define MPI_{K}DUP_FN ((MPI_{T}opy{A}_function*)MPIR_Dup_fn)
""",
    "openmpi": """\
#define MPI_UNWEIGHTED ((int*)2)
#define MPI_WEIGHTS_EMPTY ((int*)3)
#define MPI_T_PVAR_ALL_HANDLES ((MPI_T_pvar_handle)-1)
int OMPI_C_MPI_{K}NULL_COPY_FN(void*, int, void*, void*, void*, int*);
int OMPI_C_MPI_{K}NULL_DELETE_FN(void*, int, void*, void*);
int OMPI_C_MPI_{K}DUP_FN(void*, int, void*, void*, void*, int*);
#define MPI_{K}NULL_COPY_FN ((MPI_{T}opy{A}_function*)OMPI_C_MPI_{K}NULL_COPY_FN)
#define MPI_{K}NULL_DELETE_FN ((MPI_{D}elete{A}_function*)OMPI_C_MPI_{K}NULL_DELETE_FN)
#define MPI_{K}DUP_FN ((MPI_{T}opy{A}_function*)OMPI_C_MPI_{K}DUP_FN)
""",
}
# Definitions that all ABIs have.
OTHERS = """\
#define MPI_CONVERSION_FN_NULL ((MPI_Datarep_conversion_function*)0)
#define MPI_CONVERSION_FN_NULL_C ((MPI_Datarep_conversion_function_c*)0)
extern MPI_Fint* MPI_F_STATUS_IGNORE;
extern MPI_Fint* MPI_F_STATUSES_IGNORE;
"""
STATUS = {
    "mpich": "int low, high_and_cancelled, MPI_SOURCE, MPI_TAG, MPI_ERROR;",
    "openmpi": "int MPI_SOURCE, MPI_TAG, MPI_ERROR, cancelled; size_t bytes;",
}


def symbols(abi):
    lines = []
    for line in SYMBOLS[abi.name].splitlines():
        if "{K}" not in line:
            lines.append(line)
            continue
        for K, T, D, A in (("", "C", "D", ""), ("COMM_", "Comm_c", "Comm_d", "_attr"),
                           ("TYPE_", "Type_c", "Type_d", "_attr"), ("WIN_", "Win_c", "Win_d", "_attr")):
            lines.append(line.format(K=K, T=T, D=D, A=A))
    return lines


def constants(abi):
    handles = tables.standard_handles()
    aliases = {n: v for n, v in tables.standard().items() if v.startswith("MPI_")}
    for name, other in aliases.items():
        yield f"#define {name} {other}"
    for name, symbol in abi.objects.items():
        if name in handles:
            yield f"extern char {symbol}[];"
            yield f"#define {name} (({handles[name][0]})(void*){symbol})"
    for name, value in abi.constants.items():
        if name in aliases:
            continue
        if name in handles:
            yield f"#define {name} (({handles[name][0]}){hex(value)})"
        elif name in TYPE_OF:
            yield f"#define {name} (({TYPE_OF[name]}){value})"
        elif name in tables.standard() and not name.endswith(("_FN", "_FN_NULL", "_FN_NULL_C")) and "T_" not in name[4:6]:
            yield f"#define {name} ({value})"
    for name, value in abi.constants.items():
        if name.startswith("MPI_T_"):
            kind = re.match(r"\(\((MPI_T_\w+)\)", tables.standard().get(name, ""))
            yield f"#define {name} (({kind[1] if kind else 'int'}){value})"


def types(abi):
    integers = not abi.objects
    for handle in kinds.HANDLES:
        if integers and handle != "MPI_File":
            yield f"typedef int {handle};"
        else:
            yield f"typedef struct Face_{handle}* {handle};"
    yield f"typedef struct MPI_Status {{ {STATUS[abi.name]} }} MPI_Status;"
    for name in ("enum", "cvar_handle", "pvar_handle", "pvar_session", "event_registration", "event_instance"):
        yield f"typedef struct Face_{name}* MPI_T_{name};"
    yield "typedef int MPI_T_cb_safety;"
    yield "typedef int MPI_T_source_order;"


def functions(names):
    for f in names:
        for prefix in ("", "P"):
            yield f"{f.declarator(prefix + f.name)};"


def fortran(prefix):
    """Yields the functions that convert handles and statuses between C and Fortran."""
    for handle in kinds.HANDLES:
        stem = "MPI_Type" if handle == "MPI_Datatype" else handle
        yield f"MPI_Fint {prefix}{stem}_c2f({handle} handle);"
        yield f"{handle} {prefix}{stem}_f2c(MPI_Fint number);"
    for conversion, source, target in (("c2f", "MPI_Status", "MPI_Fint"), ("f2c", "MPI_Fint", "MPI_Status")):
        yield f"int {prefix}MPI_Status_{conversion}(const {source}* from, {target}* to);"


def callbacks():
    for text in facts.typedefs():
        if "function" in text or "_fn" in text:
            yield text if text.rstrip().endswith(";") else text + ";"


def mangled(*names):
    """Returns the name of a member of namespaces or classes, as compilers mangle it."""
    return "N" + "".join(f"{len(name)}{name}" for name in names) + "E"


def cxx_objects(abi):
    """Returns MPI's own objects of the old C++ bindings: symbol, name, symbol of the class's table, C's constant."""
    lines = [calls.WRITTEN]
    for kind, objects in abi.cxx.items():
        for name, value in objects.items():
            lines.append(f'OBJECT("_Z{mangled("MPI", name)}", {name}, "_ZTV{mangled("MPI", kind)}", {value})')
    return "\n".join([*lines, ""])


def header(abi, names):
    lines = [calls.WRITTEN, "#ifndef FACE_MPI_H", "#define FACE_MPI_H", "#include <stddef.h>", "#include <stdint.h>",
             "#ifdef __cplusplus", 'extern "C" {', "#endif", "typedef long MPI_Aint;", "typedef int64_t MPI_Offset;",
             "typedef int64_t MPI_Count;", "typedef int MPI_Fint;", *types(abi), *callbacks(), *constants(abi),
             *symbols(abi), OTHERS, *functions(names), *fortran(""), *fortran("P"), "#define MPI_VERSION 4", "#define MPI_SUBVERSION 1",
             "#ifdef __cplusplus", "}", "#endif", "#endif", ""]
    return "\n".join(lines)

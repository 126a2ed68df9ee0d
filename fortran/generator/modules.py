# SPDX-License-Identifier: BSD-3-Clause
"""mpif.h and the modules mpi and mpi_f08.

The modules hold interfaces and constants only. The library holds the procedures and variables that they name. Object
files of the modules are therefore not needed. Any compiler can make its own module files from the same source.
"""

import model
from constants import KINDS, PREDEFINED_CALLBACKS, SENTINELS, STATUS, constants

COLUMNS = 100

# Procedures with the usual names that are not functions of the ABI (src/strings.c).
OTHER_PROCEDURES = ["mpi_f_sync_reg", "mpi_status_f2f08", "mpi_status_f082f"]

HANDLE_TYPES = list(model.HANDLES)


def wrap(line, indent):
    """Returns a free-form statement, broken into several lines if it is long."""
    pad, rows, row = " " * indent, [], ""
    for piece in line.replace(", ", ",\0").split("\0"):
        if row and len(pad) + len(row) + len(piece) > COLUMNS - 4:
            rows.append(row + " &")
            row = "    "
        row += ("" if not row.strip() else " ") + piece
    rows.append(row)
    return "\n".join(pad + r for r in rows)


def f08_declaration(f, p):
    """Returns mpi_f08's declaration of a dummy argument (MPI 5.0, appendix A.4): type and attributes, and the shape."""
    asynchronous = ", asynchronous" if f.nonblocking else ""
    if p.kind == "choice":
        return f"type(*), dimension(..){', intent(in)' if p.intent == 'in' else ''}{asynchronous}", ""
    if p.kind == "procedure":
        return f"procedure({p.base})", ""
    type_of = {
        "integer": "integer", "index": "integer", "logical": "logical", "string": "character(len=*)",
        "status": "type(MPI_Status)", "handle": f"type({p.base})", "attribute": "integer(kind=MPI_ADDRESS_KIND)",
        "pointer": "type(c_ptr)", "detached": "type(c_ptr)",
        "kind_integer": f"integer(kind={model.INTEGER_KINDS.get(p.base)})",
    }
    ignorable = p.kind in ("status", "statuss") and p.intent == "out"  # MPI_STATUS_IGNORE: no intent
    attributes = "" if ignorable else f", intent({p.intent})"
    if p.kind in type_of:
        return type_of[p.kind] + attributes, ""
    if model.is_collective(f.name):
        attributes += asynchronous
    shape = {"ranges": "(3,*)", "array_of_argv": "(count,*)"}.get(p.name, "(*)")
    return type_of[p.kind.removesuffix("s")] + attributes, shape


def mpi_declaration(f, p, c_pointer):
    """Returns the declaration of the module mpi: integers in place of types, choice buffers without any check."""
    if p.kind in ("choice", "detached"):
        return "type(*), dimension(*)" + (", intent(in)" if p.intent == "in" else ""), ""
    intent = f", intent({p.intent})"
    if p.kind in ("handle", "handles"):
        return "integer" + intent, "" if p.kind == "handle" else "(*)"
    if p.kind in ("status", "statuss"):
        shape = "(MPI_STATUS_SIZE)" if p.kind == "status" else "(MPI_STATUS_SIZE,*)"
        return "integer" + ("" if p.intent == "out" else intent), shape
    if p.kind == "procedure":
        return "external", ""
    if p.kind == "attribute" and f.name in model.NOT_IN_F08:
        return "integer" + intent, ""
    if p.kind == "pointer" and not c_pointer:
        return "integer(kind=MPI_ADDRESS_KIND)" + intent, ""
    return f08_declaration(f, p)


RESULTS = {"double": "double precision", "MPI_Aint": "integer(kind=MPI_ADDRESS_KIND)"}


def specific(f, name, declare, optional, bind=""):
    """Returns an interface body."""
    arguments = [p.name for p in f.visible] + ([] if f.is_function else ["ierror"])
    word = f"{RESULTS[f.returns]} function" if f.is_function else "subroutine"
    end = "function" if f.is_function else "subroutine"
    lines = [wrap(f"{word} {name}({', '.join(arguments)}){bind}", 4), "      import"]
    # Bounds of other arguments are declared before them.
    for p in sorted(f.visible, key=lambda p: p.name != "count"):
        lines.append(wrap(f"{declare(f, p)[0]} :: {p.name}{declare(f, p)[1]}", 6))
        if declare is not f08_declaration and p.kind in ("choice", "detached"):
            lines.append(f"      !GCC$ ATTRIBUTES NO_ARG_CHECK :: {p.name}")
            lines.append(f"      !DIR$ IGNORE_TKR(tkrdma) {p.name}")
    if not f.is_function:
        lines.append(f"      integer, {'optional, ' if optional else ''}intent(out) :: ierror")
    return "\n".join(lines + [f"    end {end}"])


def generic(name, specifics):
    return "\n".join([f"  interface {name}"] + specifics + ["  end interface"])


def f08_specific(f, prefix):
    name = prefix + f.f08_symbol.removeprefix("MPI")
    bind = ""
    if f.has_choice:  # only bind(C) passes C's descriptors
        bind = f' bind(C, name="{name.lower()}_")'
    return specific(f, name, f08_declaration, True, bind)


def f08_interfaces(functions, prefix):
    large = {f.name: f for f in functions if f.large}
    result = []
    for f in functions:
        if f.large or not f.in_f08:
            continue
        specifics = [f08_specific(f, prefix)]
        other = large.get(f.name + "_c")
        if other and model.type_signature(other) != model.type_signature(f):
            specifics.append(f08_specific(other, prefix))
        result.append(generic(prefix + f.name.removeprefix("MPI"), specifics))
        if other and any(p.kind == "procedure" for p in f.parameters):  # told apart by name (MPI 5.0, 19.2)
            result.append(generic(prefix + other.name.removeprefix("MPI"), [f08_specific(other, prefix)]))
    return result + f08_others(prefix)


def f08_others(prefix):
    p = prefix.lower()
    return [f"""\
  interface {prefix}_F_sync_reg
    subroutine {prefix}_F_sync_reg_f08ts(buf) bind(C, name="{p}_f_sync_reg_f08ts_")
      import
      type(*), dimension(..), asynchronous :: buf
    end subroutine
  end interface""", sizeof(prefix), f"""\
  interface {prefix}_Status_f2f08
    subroutine {prefix}_Status_f2f08_f08(f_status, f08_status, ierror)
      import
      integer, intent(in) :: f_status(MPI_STATUS_SIZE)
      type(MPI_Status), intent(out) :: f08_status
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface {prefix}_Status_f082f
    subroutine {prefix}_Status_f082f_f08(f08_status, f_status, ierror)
      import
      type(MPI_Status), intent(in) :: f08_status
      integer, intent(out) :: f_status(MPI_STATUS_SIZE)
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface"""]


def sizeof(prefix):
    return f"""\
  interface {prefix}_Sizeof
    subroutine {prefix}_Sizeof_f08ts(x, size, ierror) bind(C, name="{prefix.lower()}_sizeof_f08ts_")
      import
      type(*), dimension(..), intent(in) :: x
      integer, intent(out) :: size
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface"""


def mpi_interfaces(functions, prefix):
    result = []
    for f in functions:
        if f.large:
            continue
        name = prefix + f.name.removeprefix("MPI")
        if any(p.kind == "pointer" for p in f.parameters):
            result.append(generic(name, [
                specific(f, name, lambda f, p: mpi_declaration(f, p, False), False),
                specific(f, name + "_cptr", lambda f, p: mpi_declaration(f, p, True), False)]))
        else:
            result.append(generic("", [specific(f, name, lambda f, p: mpi_declaration(f, p, False), False)]))
    result.append(f"""\
  interface
    subroutine {prefix}_F_sync_reg(buf)
      import
      type(*), dimension(*) :: buf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
      !DIR$ IGNORE_TKR(tkrdma) buf
    end subroutine
    subroutine {prefix}_Status_f2f08(f_status, f08_status, ierror)
      import
      integer, intent(in) :: f_status(MPI_STATUS_SIZE)
      type(MPI_Status), intent(out) :: f08_status
      integer, intent(out) :: ierror
    end subroutine
    subroutine {prefix}_Status_f082f(f08_status, f_status, ierror)
      import
      type(MPI_Status), intent(in) :: f08_status
      integer, intent(out) :: f_status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine
  end interface""")
    result.append(sizeof(prefix))
    return result


# ---- Constants, types, sentinels ----

def kinds():
    return [f"  integer, parameter :: {name} = {value}" for name, value in (KINDS | STATUS).items()]


def support(sections):
    value = ".true." if sections else ".false."
    return [f"  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = {value}",
            f"  logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = {value}"]


def constant(c, typed):
    if c.handle and typed:
        return f"  type({c.handle}), parameter :: {c.name} = {c.handle}({c.value})"
    integer = f"integer(kind={c.kind})" if c.kind else "integer"
    return f"  {integer}, parameter :: {c.name} = {c.value}"


def sentinel(s, typed):
    """Returns the declaration of a variable of the library, which is known by its address."""
    declaration, shape = s.type, s.shape
    if s.type == "character":
        declaration = "character(kind=c_char)"
    elif s.type == "status":
        declaration = "type(MPI_Status)" if typed else "integer"
        if not typed:
            shape = "(MPI_STATUS_SIZE)" if not shape else "(MPI_STATUS_SIZE,1)"
    symbol = s.symbol.replace("fortran", "f08") if s.type == "status" and typed else s.symbol
    return f'  {declaration}, target, bind(C, name="{symbol}") :: {s.name}{shape}'


def handle_types():
    lines = []
    for name in HANDLE_TYPES:
        lines += [f"  type, bind(C) :: {name}", "    integer :: MPI_VAL", f"  end type {name}"]
    lines += ["  type, bind(C) :: MPI_Status", "    integer :: MPI_SOURCE", "    integer :: MPI_TAG",
              "    integer :: MPI_ERROR", "    integer, private :: MPI_internal(5)", "  end type MPI_Status"]
    return lines


def comparisons():
    """Returns == and /= of handles, also of whole arrays: all(requests == MPI_REQUEST_NULL)."""
    lines = []
    for operator, word in (("==", "equal"), ("/=", "differ")):
        lines.append(f"  interface operator({operator})")
        for name in HANDLE_TYPES:
            procedure = f"MPI_Fortran_{word}_{name.removeprefix('MPI_')}"
            lines += [f"    elemental logical function {procedure}(a, b)",
                      f"      import :: {name}", f"      type({name}), intent(in) :: a, b", "    end function"]
        lines.append("  end interface")
    return lines


ATTRIBUTE = "integer(kind=MPI_ADDRESS_KIND)"


def callbacks():
    """Returns abstract interfaces of user functions (MPI 5.0, A.1.3): (name, [(argument, declaration)])."""
    def copy(handle, name):
        return [(name, f"type({handle})"), (f"{name}_keyval", "integer"), ("extra_state", ATTRIBUTE),
                ("attribute_val_in", ATTRIBUTE), ("attribute_val_out", ATTRIBUTE), ("flag", "logical"),
                ("ierror", "integer")]

    def delete(handle, name):
        return [(name, f"type({handle})"), (f"{name}_keyval", "integer"), ("attribute_val", ATTRIBUTE),
                ("extra_state", ATTRIBUTE), ("ierror", "integer")]

    def errors(handle, name):
        return [(name, f"type({handle})"), ("error_code", "integer")]

    def reduction(length):
        return [("invec", "type(c_ptr), value"), ("inoutvec", "type(c_ptr), value"), ("len", length),
                ("datatype", "type(MPI_Datatype)")]

    def conversion(count):
        return [("userbuf", "type(c_ptr), value"), ("datatype", "type(MPI_Datatype)"), ("count", count),
                ("filebuf", "type(c_ptr), value"), ("position", "integer(kind=MPI_OFFSET_KIND)"),
                ("extra_state", ATTRIBUTE), ("ierror", "integer")]

    large = "integer(kind=MPI_COUNT_KIND)"
    return {
        "MPI_User_function": reduction("integer"),
        "MPI_User_function_c": reduction(large),
        "MPI_Comm_copy_attr_function": copy("MPI_Comm", "comm"),
        "MPI_Comm_delete_attr_function": delete("MPI_Comm", "comm"),
        "MPI_Type_copy_attr_function": copy("MPI_Datatype", "datatype"),
        "MPI_Type_delete_attr_function": delete("MPI_Datatype", "datatype"),
        "MPI_Win_copy_attr_function": copy("MPI_Win", "win"),
        "MPI_Win_delete_attr_function": delete("MPI_Win", "win"),
        "MPI_Comm_errhandler_function": errors("MPI_Comm", "comm"),
        "MPI_File_errhandler_function": errors("MPI_File", "file"),
        "MPI_Session_errhandler_function": errors("MPI_Session", "session"),
        "MPI_Win_errhandler_function": errors("MPI_Win", "win"),
        "MPI_Grequest_query_function": [("extra_state", ATTRIBUTE), ("status", "type(MPI_Status)"),
                                        ("ierror", "integer")],
        "MPI_Grequest_free_function": [("extra_state", ATTRIBUTE), ("ierror", "integer")],
        "MPI_Grequest_cancel_function": [("extra_state", ATTRIBUTE), ("complete", "logical"),
                                         ("ierror", "integer")],
        "MPI_Datarep_extent_function": [("datatype", "type(MPI_Datatype)"), ("extent", ATTRIBUTE),
                                        ("extra_state", ATTRIBUTE), ("ierror", "integer")],
        "MPI_Datarep_conversion_function": conversion("integer"),
        "MPI_Datarep_conversion_function_c": conversion(large),
    }


def callback(name, arguments):
    lines = [wrap(f"subroutine {name}({', '.join(a for a, _ in arguments)})", 4), "      import"]
    lines += [f"      {declaration} :: {a}" for a, declaration in arguments]
    return "\n".join(lines + ["    end subroutine"])


def f08_types():
    abstract = callbacks()
    predefined = [callback(name, abstract[of]) for name, of in PREDEFINED_CALLBACKS.items() if of]
    return "\n".join(
        ["! Types, constants and callbacks of mpi_f08.", "module mpi_f08_types",
         "  use, intrinsic :: iso_c_binding, only: c_ptr, c_char", "  implicit none", "  public",
         "  private :: c_ptr, c_char", ""]
        + kinds() + support(True) + [""] + handle_types() + [""]
        + [constant(c, True) for c in constants()] + [""]
        + [sentinel(s, True) for s in SENTINELS] + [""] + comparisons() + ["", "  abstract interface"]
        + [callback(name, arguments) for name, arguments in abstract.items()]
        + ["  end interface", "", "  interface"] + predefined + ["  end interface", "end module mpi_f08_types"])


WRITTEN = "! SPDX-License-Identifier: BSD-3-Clause\n! Written by fortran/generate.py.\n\n"


def f08_module(name, uses, interfaces):
    return "\n".join([f"module {name}", "  use, intrinsic :: iso_c_binding, only: c_ptr"]
                     + [f"  use {use}" for use in uses] + ["  implicit none", "  public", "  private :: c_ptr", ""]
                     + interfaces + [f"end module {name}"])


def mpi_module(functions):
    # Each symbol is declared once. Statuses have another type here.
    shared = [s.name for s in SENTINELS if s.type != "status"]
    types = ", ".join(["MPI_Status", *HANDLE_TYPES, "operator(==)", "operator(/=)", *shared])
    externals = [f"  external :: {name}" for name in PREDEFINED_CALLBACKS]
    return "\n".join(
        ["module mpi", "  use, intrinsic :: iso_c_binding, only: c_ptr",
         wrap(f"use mpi_f08_types, only: {types}", 2), "  implicit none", "  public",
         "  private :: c_ptr", ""]
        + kinds() + support(False) + [""] + [constant(c, False) for c in constants()] + [""]
        + [sentinel(s, False) for s in SENTINELS if s.type == "status"] + [""] + externals + [""]
        + mpi_interfaces(functions, "MPI") + mpi_interfaces(functions, "PMPI") + ["end module mpi"])


# ---- mpif.h: lines that fixed and free form both accept ----

def mpif():
    lines = ["! SPDX-License-Identifier: BSD-3-Clause", "! Written by fortran/generate.py, for fixed and free form.", "!"]

    def say(text):
        assert len(text) <= 66, text
        lines.append(" " * 6 + text)

    for name, value in (KINDS | STATUS).items():
        say(f"INTEGER {name}")
        say(f"PARAMETER ({name}={value})")
    for name in ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"):
        say(f"LOGICAL {name}")
        say(f"PARAMETER ({name}=.FALSE.)")
    for c in constants():
        say(f"INTEGER*{KINDS[c.kind]} {c.name}" if c.kind else f"INTEGER {c.name}")
        say(f"PARAMETER ({c.name}={c.value})")
    for s in SENTINELS:
        shape = s.shape
        if s.type == "status":
            shape = "(MPI_STATUS_SIZE)" if not shape else "(MPI_STATUS_SIZE,1)"
        say(f"{'CHARACTER' if s.type == 'character' else 'INTEGER'} {s.name}{shape}")
        say(f"COMMON /{s.symbol.upper().rstrip('_')}/ {s.name}")
    for prefix in ("", "P"):
        for name, result in (("MPI_WTIME", "DOUBLE PRECISION"), ("MPI_WTICK", "DOUBLE PRECISION"),
                             ("MPI_AINT_ADD", "INTEGER*8"), ("MPI_AINT_DIFF", "INTEGER*8")):
            say(f"{result} {prefix}{name}")
            say(f"EXTERNAL {prefix}{name}")
    for name in PREDEFINED_CALLBACKS:
        say(f"EXTERNAL {name}")
    return "\n".join(lines) + "\n"


def files(functions):
    f08 = "\n\n".join([
        f08_types(),
        f08_module("pmpi_f08", ["mpi_f08_types"], f08_interfaces(functions, "PMPI")),
        f08_module("mpi_f08", ["mpi_f08_types", "pmpi_f08"], f08_interfaces(functions, "MPI")),
    ])
    return {"mpif.h": mpif(), "mpi_f08.f90": WRITTEN + f08 + "\n", "mpi.f90": WRITTEN + mpi_module(functions) + "\n"}

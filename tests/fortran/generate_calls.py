#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes tests that call every function of each Fortran binding.

The tests run on a library of their own with the standard ABI, which this program writes, too. Functions of the library
compare their arguments with those that C should get. They return values that the Fortran side compares with those that
Fortran should get. Both sides take the values from one table (Values), so that every argument is followed both ways:
integers of all kinds, handles, LOGICALs, indices, strings, statuses, arrays, addresses, sentinels.

A function is called three times: plainly; with the sentinels that its arguments may be; and so that it fails. If it has a
short path, it is called with handles that are constants, too: with arrays and with scalars as buffers.
"""

import argparse
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "fortran" / "generator"))
import c_side  # noqa: E402
import model  # noqa: E402
from model import facts  # noqa: E402

PLAIN, SENTINELS, OTHER_SENTINELS, FAILING, CONSTANTS, SCALARS = range(6)
FIRST_CONSTANT = 4000  # subtracted from handles to make constants
LENGTH = 3  # of every array
FAILURE = 17

# Arguments that are the lengths of others, and values that the bindings ask a communicator for.
LENGTHS = {"count", "incount", "ndims", "maxdims", "max_datatypes", "n"}
ASKED = {
    ("MPI_Comm_size", "size"): LENGTH, ("MPI_Comm_remote_size", "size"): LENGTH, ("MPI_Cartdim_get", "ndims"): LENGTH,
    ("MPI_Dist_graph_neighbors_count", "indegree"): LENGTH, ("MPI_Dist_graph_neighbors_count", "outdegree"): LENGTH,
    ("MPI_Topo_test", "status"): 213, ("MPI_Comm_rank", "rank"): 1, ("MPI_Comm_spawn_multiple", "root"): 1,
}
# C counts the null character of a string.
COUNTS_NULL = {("MPI_Info_get_string", "buflen"), ("MPI_Session_get_nth_pset", "pset_len")}
SENTINEL_ARGUMENTS = {
    "in_place": ("MPI_IN_PLACE", "MPI_IN_PLACE"), "bottom": ("MPI_BOTTOM", "MPI_BOTTOM"),
    "buffer_automatic": ("MPI_BUFFER_AUTOMATIC", "MPI_BUFFER_AUTOMATIC"),
    "unweighted": ("MPI_UNWEIGHTED", "MPI_UNWEIGHTED"), "weights_empty": ("MPI_WEIGHTS_EMPTY", "MPI_WEIGHTS_EMPTY"),
    "errcodes_ignore": ("MPI_ERRCODES_IGNORE", "MPI_ERRCODES_IGNORE"),
    "status_ignore": ("MPI_STATUS_IGNORE", "MPI_STATUS_IGNORE"),
    "statuses_ignore": ("MPI_STATUSES_IGNORE", "MPI_STATUSES_IGNORE"),
    "argv_null": ("MPI_ARGV_NULL", "MPI_ARGV_NULL"), "argvs_null": ("MPI_ARGVS_NULL", "MPI_ARGVS_NULL"),
}


class Values:
    """Values that a parameter is given and returns; other functions and parameters have other values."""

    def __init__(self, function, p):
        self.asked = ASKED.get((function.name, p.name))
        seed = zlib.crc32(f"{function.name} {p.name}".encode())
        self.number = LENGTH if p.name in LENGTHS else 100 + seed % 800
        self.returned = 1000 + seed % 777
        if p.base in model.INTEGER_KINDS and p.kind.startswith("kind"):
            self.number = LENGTH if p.name in LENGTHS else 5_000_000_000 + seed % 800
            self.returned = 6_000_000_000 + seed % 777
        if p.name in COUNT_OF_INDICES:
            self.returned = 2
        if self.asked is not None:
            self.number = self.returned = self.asked
        self.handle = 5000 + seed % 900
        self.returned_handle = 7000 + seed % 900
        if p.name in ("comm", "comm_old"):
            self.handle = 4999  # the communicator that the bindings ask
        self.text = f"text{seed % 1000}"


COUNT_OF_INDICES = {"outcount"}


def sentinel_of(p, mode=SENTINELS):
    """Returns the sentinel to pass in place of the argument in this mode, or None. If there are two, each mode has one."""
    takes = p.kind == "choice" and p.name not in model.PLAIN_BUFFERS or \
        p.kind in ("integers", "status", "statuss", "strings")
    if not takes or not p.sentinels or mode not in (SENTINELS, OTHER_SENTINELS):
        return None
    if mode == SENTINELS:
        return p.sentinels[-1]
    return p.sentinels[0] if len(p.sentinels) > 1 else None


# ---- C: a library with the standard ABI ----

def c_checks(f, p):
    """Returns two lists of statements: some compare the argument, the others return a value through it."""
    v, n, s = Values(f, p), p.name, sentinel_of(p)
    check, fill = [], []

    def equal(what, expected):
        check.append(f'CHECK({what} == {expected}, "{f.name}", "{n}");')

    large = "(MPI_Count)"
    if p.kind in ("integer", "kind_integer", "logical"):
        expected = 1 if p.kind == "logical" else v.number
        returned = 7 if p.kind == "logical" else v.returned
        if (f.name, n) in COUNTS_NULL:
            expected, returned = v.number + 1, 5
        if p.intent == "in":
            equal(n, f"{expected}")
        else:
            if p.intent == "inout":
                equal(f"*{n}", expected)
            fill.append(f"*{n} = {returned};")
    elif p.kind in ("integers", "kind_integers", "logicals"):
        body = []
        for i in range(LENGTH):
            at = f"((const {'int' if p.kind != 'kind_integers' else p.base}*){n})[{i}]"
            expected = (i + 1) % 2 if p.kind == "logicals" else v.number + i
            if p.intent != "out":
                body.append(f'CHECK({at} == {expected}, "{f.name}", "{n}");')
            if p.intent != "in":
                fill.append(f"(({'int' if p.kind != 'kind_integers' else p.base}*){n})[{i}] = "
                            f"{3 * ((i + 1) % 2) if p.kind == 'logicals' else v.returned + i};")
        check += guarded(p, body, f)
        if s:
            fill = [f"if ({not_ignored(p)}) {{ {' '.join(fill)} }}"] if fill else []
    elif p.kind == "index":
        fill.append(f"*{n} = 2;")
    elif p.kind == "indexs":
        fill.append(f"{n}[0] = 0; {n}[1] = 2;")
    elif p.kind == "handle":
        handle = f"({p.base})given({v.handle})"
        if p.c_type.endswith("*"):
            if p.intent != "out":
                equal(f"*{n}", handle)
            if p.intent != "in":
                fill.append(f"*{n} = ({p.base})pointer_of({v.returned_handle});")
        else:
            equal(n, handle)
    elif p.kind == "handles":
        body = []
        for i in range(LENGTH):
            if p.intent != "out":
                body.append(f'CHECK({n}[{i}] == ({p.base})given({v.handle + i}), "{f.name}", "{n}");')
            if p.intent != "in":
                fill.append(f"{n}[{i}] = ({p.base})pointer_of({v.returned_handle + i});")
        # With MPI_IN_PLACE, the types of the other buffer have no meaning.
        check += [f"if (mode != {SENTINELS}) {{ {' '.join(body)} }}"] if n == "sendtypes" else body
    elif p.kind in ("status", "statuss"):
        many = p.kind == "statuss"
        for i in range(LENGTH if many else 1):
            for j, field in enumerate(("MPI_SOURCE", "MPI_TAG", "MPI_ERROR")):
                if p.intent != "out":
                    equal(f"{n}[{i}].{field}", v.number + j)
                if p.intent != "in":
                    fill.append(f"{n}[{i}].{field} = {v.returned + 10 * i + j};")
        if s:
            check = [f'if (mode == {SENTINELS}) CHECK({n} == MPI_{s.upper()}, "{f.name}", "{n}");']
            fill = [f"if (mode != {SENTINELS}) {{ {' '.join(fill)} }}"]
    elif p.kind == "choice":
        body = [f'CHECK(*(const int*){n} == {v.number}, "{f.name}", "{n}");']
        check += guarded(p, body, f)
        if p.intent != "in":
            fill.append(f"if ({not_ignored(p)}) *(int*){n} = {v.returned};" if s else f"*(int*){n} = {v.returned};")
    elif p.kind == "string":
        if p.intent == "in":
            check.append(f'CHECK(strcmp({n}, "{v.text}") == 0, "{f.name}", "{n}");')
        else:
            fill.append(f'strcpy({n}, "{v.text}");')
    elif p.kind == "strings":
        check += strings_checks(f, p)
    elif p.kind == "procedure":
        check.append(f'CHECK({n} != NULL, "{f.name}", "{n}");')
    elif p.kind == "attribute":
        if p.name == "attribute_val" and p.intent == "in":
            equal(f"*(MPI_Aint*){n}", v.number)
        elif p.intent == "out":
            fill.append(f"*(void**){n} = (void*){large}{v.returned};")
    elif p.kind in ("pointer", "detached"):
        fill.append(f"*(void**){n} = (void*){large}{v.returned};")
    elif p.kind == "argument":
        check.append(f'CHECK({n} == 0, "{f.name}", "{n}");')
    return check, fill


def not_ignored(p):
    """Returns a condition in C: an argument that may be a sentinel is none."""
    return " && ".join(f"mode != {mode}" for mode in (SENTINELS, OTHER_SENTINELS) if sentinel_of(p, mode))


def guarded(p, body, f):
    checks = []
    for mode in (SENTINELS, OTHER_SENTINELS):
        if sentinel := sentinel_of(p, mode):
            constant = SENTINEL_ARGUMENTS[sentinel][1]
            checks.append(f'if (mode == {mode}) {{ CHECK((const void*){p.name} == (const void*){constant}, "{f.name}", '
                          f'"{p.name}"); }}')
    if not checks or not body:
        return checks + body
    return [*checks, f"if ({not_ignored(p)}) {{ {' '.join(body)} }}"]


def strings_checks(f, p):
    if p.name == "array_of_commands":
        body = [f'CHECK(strcmp({p.name}[{i}], "c{i}") == 0, "{f.name}", "{p.name}");' for i in range(LENGTH)]
    elif p.name == "argv":
        body = [f'CHECK(strcmp(argv[0], "a") == 0 && strcmp(argv[1], "b c") == 0 && argv[2] == NULL, "{f.name}", '
                f'"argv");']
    else:
        body = [f'CHECK(strcmp({p.name}[{i}][0], "a{i}") == 0 && {p.name}[{i}][1] == NULL, "{f.name}", '
                f'"{p.name}");' for i in range(LENGTH)]
    return guarded(p, body, f)


def c_function(f, fact, number):
    check, fill = [], []
    names = {p.name: q for p, q in zip(f.parameters, fact.parameters)}
    for p in f.parameters:
        c, r = c_checks(f, p)
        check += c
        fill += r
    declaration = ", ".join(str(facts.Parameter(q.type, p.name)) for p, q in zip(f.parameters, fact.parameters))
    variadic = ", ..." if fact.parameters and fact.parameters[-1].type == "..." else ""
    assert len(names) == len(f.parameters)
    lines = [f"{f.returns} MPI_{f.name.removeprefix('MPI_')}({declaration or 'void'}{variadic}) {{"]
    if f.name == "MPI_Info_get_string":
        lines.append("    if (current < 0) return says_of_requests(value, flag);")
    lines += [f"    if (called({number}, false)) {{"] + [f"        {c}" for c in check] + ["    }"]
    if f.is_function:
        result = "12.5" if f.returns == "double" else "6000000001"
        lines += [f"    return {result};", "}"]
    else:
        lines += [f"    if (mode == {FAILING} && current == {number}) return {FAILURE};"]
        lines += [f"    {r}" for r in fill] + ["    return MPI_SUCCESS;", "}"]
    text = "\n".join(lines)
    return text + "\n" + text.replace(f" {f.name}(", f" P{f.name}(", 1).replace("called(%d, false)" % number,
                                                                          "called(%d, true)" % number)


C_HEAD = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* Written by tests/fortran/generate_calls.py: a library with the standard ABI that looks at its arguments. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_WITH_CONSTANTS = %d, FIRST_CONSTANT = %d };

static int current = -1, mode, failures, calls;
static bool profiling;
static const char* const modes[] = {"", " with sentinels", " with other sentinels", " failing", " with constants", " with scalars"};

#define CHECK(condition, function, parameter) \\
    do { \\
        if (!(condition)) { \\
            ++failures; \\
            printf("%s%s: argument %s does not reach C: %s\\n", function, modes[mode], parameter, #condition); \\
        } \\
    } while (0)

/* Handles of objects: addresses that have nothing to do with their integers; or their lower halves are the integers,
 * which is then said of requests. */
static bool lower_halves;
static void* pointer_of(int number) {
    return (void*)(uintptr_t)(lower_halves ? 0x710000000000 + number : 0x40000000 + 16L * number);
}
static int number_of(const void* handle) {
    if ((uintptr_t)handle < 4096 || lower_halves) return (int)(uintptr_t)handle;
    return (int)(((uintptr_t)handle - 0x40000000) / 16);
}
static int says_of_requests(char* value, int* flag) {
    *flag = lower_halves;
    strcpy(value, "lower half of the address");
    return MPI_SUCCESS;
}
__attribute__((constructor)) static void choose(void) { lower_halves = getenv("MOCK_LOWER_HALVES") != NULL; }

/* The handle that the Fortran side gives. */
static void* given(int number) {
    return mode < FIRST_WITH_CONSTANTS ? pointer_of(number) : (void*)(uintptr_t)(number - FIRST_CONSTANT);
}

static bool called(int number, bool by_profiling) {
    if (number != current) return false;  /* asked by the bindings themselves */
    if (by_profiling == profiling) ++calls;
    return true;
}

/* What the Fortran side says: which call comes, and whether it came. */
void mock_begin_(const int* number, const int* new_mode, const int* by_profiling) {
    current = *number;
    mode = *new_mode;
    profiling = *by_profiling;
    calls = 0;
}
void mock_end_(const char* name, size_t length) {
    if (calls != 1) {
        ++failures;
        printf("%.*s%s: C was called %d times\\n", (int)length, name, modes[mode], calls);
    }
    current = -1;
}
void mock_fail_(const char* name, const char* what, size_t name_length, size_t what_length) {
    ++failures;
    printf("%.*s%s: argument %.*s does not come back\\n", (int)name_length, name, modes[mode], (int)what_length,
           what);
}
int mock_failures_(void) { return failures; }
"""


def c_library(functions, by_name):
    parts = [C_HEAD.replace("%d", str(CONSTANTS), 1).replace("%d", str(FIRST_CONSTANT), 1)]
    for handle, x in model.HANDLES.items():
        for prefix in ("MPI", "PMPI"):
            parts.append(f"int {prefix}_{x}_toint({handle} handle) {{ return number_of(handle); }}")
            parts.append(f"{handle} {prefix}_{x}_fromint(int number) {{\n    return ({handle})(number < 4096 ? "
                         "(void*)(uintptr_t)number : pointer_of(number));\n}")
    parts += [c_function(f, by_name[f.name], i) for i, f in enumerate(functions)]
    return "\n".join(parts) + "\n"


# ---- Fortran: a subroutine for each function ----

class Binding:
    def __init__(self, name, prefix):
        self.name, self.prefix = name, prefix
        self.f08 = name == "f08"

    def handle(self, variable):
        return f"{variable}%MPI_VAL" if self.f08 else variable

    def field(self, variable, i, element=""):
        if self.f08:
            return f"{variable}{element}%{('MPI_SOURCE', 'MPI_TAG', 'MPI_ERROR')[i]}"
        return f"{variable}({i + 1}{',' + element.strip('()') if element else ''})"


def declaration(b, f, p):
    """Returns type and shape of a variable for the argument, or None if an expression is passed."""
    many = f"({LENGTH})"
    if p.kind in ("integer", "index"):
        return "integer", ""
    if p.kind in ("integers", "indexs"):
        return "integer", "(3,1)" if p.name == "ranges" else many
    if p.kind in ("kind_integer", "kind_integers"):
        return "integer(8)", "" if p.kind == "kind_integer" else many
    if p.kind in ("logical", "logicals"):
        return "logical", "" if p.kind == "logical" else many
    if p.kind in ("handle", "handles"):
        return f"type({p.base})" if b.f08 else "integer", "" if p.kind == "handle" else many
    if p.kind == "status":
        return ("type(MPI_Status)", "") if b.f08 else ("integer", "(MPI_STATUS_SIZE)")
    if p.kind == "statuss":
        return ("type(MPI_Status)", many) if b.f08 else ("integer", f"(MPI_STATUS_SIZE,{LENGTH})")
    if p.kind == "choice":
        return "integer", "(2)"
    if p.kind == "string":
        return "character(len=20)", ""
    if p.kind == "strings":
        return "character(len=4)", "(3,2)" if p.name == "array_of_argv" else many
    if p.kind == "attribute":
        return "integer" if f.name in model.NOT_IN_F08 else "integer(8)", ""
    if p.kind in ("pointer", "detached"):
        return ("type(c_ptr)" if b.f08 else "integer(8)"), ""
    return None


def kind_suffix(p):
    return "_8" if p.kind in ("kind_integer", "kind_integers") else ""


def set_up(b, f, p, mode=PLAIN):
    v, n = Values(f, p), p.name
    if p.kind in ("integer", "kind_integer", "attribute"):
        suffix = "_8" if p.kind == "attribute" and f.name not in model.NOT_IN_F08 else kind_suffix(p)
        # An argument that MPI sets in case of success only may be anything before: here the largest number.
        return [f"{n} = {v.number if p.intent != 'out' else 2147483647}{suffix}"]
    if p.kind in ("integers", "kind_integers"):
        values = ", ".join(f"{v.number + i}{kind_suffix(p)}" for i in range(LENGTH))
        target = "ranges(:,1)" if n == "ranges" else n
        return [f"{target} = [{values}]"]
    if p.kind == "logical":
        return [f"{n} = {'.true.' if p.intent == 'in' else '.false.'}"]
    if p.kind == "logicals":
        return [f"{n} = {'[.true., .false., .true.]' if p.intent == 'in' else '.false.'}"]
    if p.kind == "handle":
        return [f"{b.handle(n)} = {v.handle - (FIRST_CONSTANT if mode >= CONSTANTS else 0)}"]
    if p.kind == "handles":
        return [f"{b.handle(f'{n}({i + 1})')} = {v.handle + i}" for i in range(LENGTH)]
    if p.kind == "status":
        return [f"{b.field(n, i)} = {v.number + i}" for i in range(3)]
    if p.kind == "choice":
        return [f"{n} = {v.number}"]
    if p.kind == "string" and p.intent == "in":
        return [f"{n} = '{v.text}'"]
    if p.kind == "strings":
        return {"argv": ["argv = ['a   ', 'b c ', '    ']"],
                "array_of_commands": ["array_of_commands = ['c0  ', 'c1  ', 'c2  ']"],
                "array_of_argv": ["array_of_argv(:,1) = ['a0  ', 'a1  ', 'a2  ']", "array_of_argv(:,2) = ' '"],
                }[n]
    return []


def compare(b, f, p, mode):
    v, n = Values(f, p), p.name
    result = []

    def equal(condition):
        result.append(f"if (.not. ({condition})) &\n      call mock_fail('{f.name}', '{n}')")

    if sentinel_of(p, mode):
        return []
    if p.intent == "in":
        return []
    if p.kind in ("integer", "kind_integer"):
        equal(f"{n} == {4 if (f.name, n) in COUNTS_NULL else v.returned}{kind_suffix(p)}")
    elif p.kind in ("integers", "kind_integers"):
        for i in range(LENGTH):
            equal(f"{n}({i + 1}) == {v.returned + i}{kind_suffix(p)}")
    elif p.kind == "logical":
        equal(f"{n} .and. transfer({n}, 0) == 1")
    elif p.kind == "logicals":
        equal(f"all({n} .eqv. [.true., .false., .true.]) .and. transfer({n}(1), 0) == 1")
    elif p.kind == "index":
        equal(f"{n} == 3")
    elif p.kind == "indexs":
        equal(f"{n}(1) == 1 .and. {n}(2) == 3")
    elif p.kind == "handle":
        equal(f"{b.handle(n)} == {v.returned_handle}")
    elif p.kind == "handles":
        for i in range(LENGTH):
            equal(f"{b.handle(f'{n}({i + 1})')} == {v.returned_handle + i}")
    elif p.kind in ("status", "statuss"):
        for i in range(LENGTH if p.kind == "statuss" else 1):
            for j in range(3):
                element = f"({i + 1})" if p.kind == "statuss" else ""
                equal(f"{b.field(n, j, element)} == {v.returned + 10 * i + j}")
    elif p.kind == "choice":
        equal(f"{n}(1) == {v.returned}")
    elif p.kind == "string":
        equal(f"{n} == '{v.text}'")
    elif p.kind == "attribute":
        old = f.name in model.NOT_IN_F08
        equal(f"{n} == {v.returned}{'' if old else '_8'}")
    elif p.kind == "pointer" or p.kind == "detached" and b.f08:
        equal(f"transfer({n}, 0_8) == {v.returned}_8")
    return result


def actual(b, f, p, mode):
    if p.kind == "procedure":
        return f"callback_{p.base.removeprefix('MPI_').lower()}" if b.f08 else "callback"
    if mode == SCALARS and p.kind == "choice":
        return f"{p.name}(1)"
    s = sentinel_of(p, mode)
    return SENTINEL_ARGUMENTS[s][0] if s else p.name


def wrap(line):
    rows, row = [], ""
    for piece in line.replace(", ", ",\0").split("\0"):
        if row and len(row) + len(piece) > 100:
            rows.append(row + " &")
            row = "      "
        row += (" " if row.strip() else "") + piece
    return "\n".join(rows + [row])


def subroutine(b, f, number):
    name = b.prefix + f.name.removeprefix("MPI")
    if f.large:
        name = name if any(p.kind == "procedure" for p in f.parameters) else name.removesuffix("_c")
    lines = [f"  subroutine test_{number}()"]
    for p in f.visible:
        declared = declaration(b, f, p)
        if declared:
            lines.append(f"    {declared[0]} :: {p.name}{declared[1]}")
    profiled = 1 if b.prefix == "PMPI" else 0
    if f.is_function:
        lines += [f"    {line}" for p in f.visible for line in set_up(b, f, p)]
        result = "12.5d0" if f.returns == "double" else "6000000001_8"
        arguments = ", ".join(p.name for p in f.visible)
        lines += [f"    call mock_begin({number}, 0, {profiled})",
                  f"    if ({name}({arguments}) /= {result}) call mock_fail('{f.name}', 'result')",
                  f"    call mock_end('{name}')"]
        return "\n".join(lines + ["  end subroutine"])
    lines.append("    integer :: ierror")
    modes = [PLAIN] + [mode for mode in (SENTINELS, OTHER_SENTINELS)
                       if any(sentinel_of(p, mode) for p in f.parameters)] + [FAILING]
    if c_side.has_short_way(f):
        modes += [CONSTANTS] + ([SCALARS] if b.f08 else [])
    for mode in modes:
        lines += [f"    {line}" for p in f.visible for line in set_up(b, f, p, mode)]
        lines += ["    ierror = -1", f"    call mock_begin({number}, {mode}, {profiled})"]
        without = b.f08 and mode == SENTINELS  # ierror is optional
        arguments = [actual(b, f, p, mode) for p in f.visible] + ([] if without else ["ierror"])
        lines.append(wrap(f"    call {name}({', '.join(arguments)})"))
        lines.append(f"    call mock_end('{name}')")
        if mode == FAILING:
            lines.append(f"    if (ierror /= {FAILURE}) call mock_fail('{f.name}', 'ierror')")
            continue
        if not without:
            lines.append(f"    if (ierror /= MPI_SUCCESS) call mock_fail('{f.name}', 'ierror')")
        lines += [f"    {line}" for p in f.visible for line in compare(b, f, p, mode)]
    return "\n".join(lines + ["  end subroutine"])


def callbacks(b):
    """Returns procedures to pass; no function calls them here."""
    if not b.f08:
        return ["  subroutine callback()\n  end subroutine"]
    sys.path.insert(0, str(Path(model.__file__).parent))
    import modules
    result = []
    for name, arguments in modules.callbacks().items():
        own = f"callback_{name.removeprefix('MPI_').lower()}"
        text = modules.callback(name, arguments).replace("      import\n", "").replace(f"subroutine {name}(",
                                                                                 f"subroutine {own}(")
        result.append(text)
    return result


USES = {"f08": "  use mpi_f08", "mpi": "  use mpi", "mpif": ""}


def program(b, functions):
    chosen = [(i, f) for i, f in enumerate(functions) if is_callable(b, f)]
    lines = ["! SPDX-License-Identifier: BSD-3-Clause",
             f"! Written by tests/fortran/generate_calls.py: calls of every function, {b.name}, {b.prefix}.",
             "module calls", "  use, intrinsic :: iso_c_binding, only: c_ptr", USES[b.name], "  implicit none"]
    if b.name == "mpif":
        lines.append("  include 'mpif.h'")
    lines += ["  external :: mock_begin, mock_end, mock_fail", "contains"] + callbacks(b)
    lines += [subroutine(b, f, i) for i, f in chosen]
    lines += ["end module", "", "program main", "  use calls", "  implicit none", "  integer, external :: mock_failures"]
    lines += [f"  call test_{i}()" for i, f in chosen]
    lines += [f"  print '(i0, a)', {len(chosen)}, ' functions of {b.name}'", "  if (mock_failures() /= 0) stop 1",
              "end program"]
    return "\n".join(lines) + "\n"


def is_callable(b, f):
    if b.f08:
        if not f.in_f08:
            return False
        if f.large and not any(p.kind == "procedure" for p in f.parameters):
            plain = next(g for g in model.functions() if g.name == f.name.removesuffix("_c"))
            return model.type_signature(plain) != model.type_signature(f)
        return True
    return not f.large


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    functions = model.functions()
    by_name = {fact.name: fact for fact in facts.functions()}
    facts.write_if_changed(options.output / "mock.c", c_library(functions, by_name))
    for name in ("f08", "mpi", "mpif"):
        for prefix in ("MPI", "PMPI"):
            facts.write_if_changed(options.output / f"calls_{name}_{prefix.lower()}.f90",
                                   program(Binding(name, prefix), functions))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""The functions of a face in C: each converts its arguments, calls the library, and converts the results.

Each parameter adds the lines that its kind needs to a Body; the Body writes them in order.
"""

import re
import textwrap
from dataclasses import dataclass, field

import kinds

PREFIX = "MPI_"


@dataclass
class Body:
    """The parts of a function in the order in which they are written."""

    formals: list = field(default_factory=list)
    before: list = field(default_factory=list)
    actuals: list = field(default_factory=list)
    on_success: list = field(default_factory=list)


def face_type(c_type):
    """Returns `F_Comm*` for `MPI_Comm *`. Types that both ABIs share keep their name."""
    own = {**{h: "F_" + h.removeprefix(PREFIX) for h in kinds.HANDLES}, "MPI_Status": "F_Status"}
    return re.sub(r"\bMPI_\w+", lambda m: own.get(m[0], m[0]), c_type)


def formal(p):
    if p.type == "...":
        return "..."
    base, array = re.fullmatch(r"([^\[]*)((?:\[\d*\])*)", face_type(p.type)).groups()
    return f"{base.strip()} {p.name}{array}"


def is_address(p):
    return p.type.endswith(("*", "]"))


def plain(body, f, p):
    body.actuals.append(f"CROSS({p.name})" if is_address(p) else p.name)


def as_it_is(body, f, p):
    """Adds an address whose number the program asks for, also if it is a constant."""
    body.actuals.append(p.name)


def converted(conversion):
    def add(body, f, p):
        body.actuals.append(f"{conversion}({p.name})")
    return add


def handle_pointer(body, f, p, handle):
    stem, name = kinds.HANDLES[handle], handle.removeprefix(PREFIX)
    inout = f.name.endswith("_free") or kinds.INOUT_HANDLES.get(f.name) == p.name
    body.actuals.append(f"PLACE_OF({p.name})")
    body.before.append(f"{'INOUT' if inout else 'OUT'}({stem}, {name}, {p.name});")


def handle_array(body, f, p, handle):
    length = kinds.array_length(f.name, p.name, [q.name for q in f.parameters])
    way = "ALL_IN" if p.type.startswith("const") else "ALL_INOUT"
    body.before.append(f"{way}({kinds.HANDLES[handle]}, {p.name}, {length});")
    body.actuals.append(f"PLACE_OF_ALL({p.name})")


def status(body, f, p):
    if p.name == "array_of_statuses":
        length = kinds.array_length(f.name, p.name, [q.name for q in f.parameters])
        body.before.append(f"STATUSES_OUT({p.name}, {length});")
        body.actuals.append(f"PLACE_OF_STATUSES({p.name})")
    elif p.type.startswith("const") or f.name.startswith("MPI_Status_set"):
        body.before += ["MPI_Status c_status;", "if (is_wanted(status)) status_in(status, &c_status);"]
        body.actuals.append("is_wanted(status) ? &c_status : no_status_in(status)")
        if not p.type.startswith("const"):
            body.on_success.append("if (is_wanted(status)) status_out(&c_status, status);")
    else:
        body.before.append("STATUS_OUT(status);")
        body.actuals.append("PLACE_OF_STATUS(status)")


def integer_out(conversion):
    def add(body, f, p):
        plain(body, f, p)
        body.on_success.append(f"if (is_memory({p.name})) *{p.name} = {conversion}(*{p.name});")
    return add


def keyval_pointer(body, f, p):
    """Adds the keyval of MPI_X_free_keyval. The other functions with such a pointer are written by hand."""
    body.before.append(f"int c_{p.name} = is_memory({p.name}) ? keyval_in(*{p.name}) : 0;")
    body.actuals.append(f"is_memory({p.name}) ? &c_{p.name} : CROSS({p.name})")
    body.on_success.append(f"if (is_memory({p.name})) *{p.name} = keyval_out(c_{p.name});")


def integers_in(conversion, length):
    def add(body, f, p):
        c = f"c_{p.name}"
        body.before += [f"const long n_{p.name} = is_memory({p.name}) ? {length} : 0;", f"LEAVING Room room_{p.name};",
                        f"int* {c} = enter(&room_{p.name}, n_{p.name}, sizeof *{c});",
                        f"if ({c} == NULL) return no_memory();",
                        f"for (long i = 0; i < n_{p.name}; ++i) {c}[i] = {conversion}({p.name}[i]);"]
        body.actuals.append(f"is_memory({p.name}) ? {c} : CROSS({p.name})")
    return add


def integers_out(conversion, length):
    def add(body, f, p):
        plain(body, f, p)
        body.on_success.append(
            f"for (long i = 0; is_memory({p.name}) && i < {length}; ++i) {p.name}[i] = {conversion}({p.name}[i]);")
    return add


def detached(body, f, p):
    """Adds a returned buffer: its address, or the mark of the library's own buffer."""
    plain(body, f, p)
    body.on_success.append(f"if (is_memory({p.name})) automatic_out((void**){p.name});")


def string_out(body, f, p):
    bound = kinds.STRING_BOUNDS[f.name]
    length = "resultlen" if any(q.name == "resultlen" for q in f.parameters) else "NULL"
    body.before.append(f"char c_{p.name}[{bound} + 1];")
    body.actuals.append(f"is_memory({p.name}) ? c_{p.name} : CROSS({p.name})")
    body.on_success.append(
        f"if (is_memory({p.name})) string_out({p.name}, c_{p.name}, F_{bound}, {length});")


ARRAYS = {
    ("MPI_Group_translate_ranks", "ranks1"): integers_in("rank_in", "n"),
    ("MPI_Group_translate_ranks", "ranks2"): integers_out("rank_out", "n"),
    "array_of_distribs": integers_in("distribution_in", "ndims"),
    "array_of_dargs": integers_in("darg_in", "ndims"),
}


def kind_of(f, p):
    """Returns the function that adds a parameter to a Body."""
    bare = p.type.removeprefix("const ").strip()
    element = bare.split("[")[0].removesuffix("*").strip()
    if (f.name, p.name) in kinds.EXCEPTIONS:
        conversion = kinds.EXCEPTIONS[f.name, p.name]
        if conversion is None:
            return plain
        return integer_out(conversion) if bare.endswith("*") else converted(conversion)
    if element in kinds.HANDLES:
        if bare.endswith("]"):
            return lambda body, f, p: handle_array(body, f, p, element)
        if bare.endswith("*"):
            return lambda body, f, p: handle_pointer(body, f, p, element)
        if element == "MPI_Errhandler" and "call_errhandler" not in f.name:
            return converted("errhandler_to_set")
        return converted(kinds.HANDLES[element] + "_in")
    if element == "MPI_Status":
        return status
    if bare == "MPI_T_pvar_handle":
        return converted("pvar_in")
    if bare == "MPI_T_cb_safety":
        return converted("(MPI_T_cb_safety)safety_in")
    if bare == "MPI_T_source_order *":
        return integer_out("(MPI_T_source_order)source_order_out")
    if p.name == "buffer_addr":
        return detached
    if p.name == "location":
        return as_it_is
    if bare == "void *":
        if "attach" in f.name and p.name == "buffer":
            return converted("automatic_in")
        return converted("place_in") if "buf" in p.name or "_addr" in p.name else plain  # also if MPI_IN_PLACE is wrong there
    if bare == "MPI_Offset" and p.name == "disp":
        return converted("displacement_in")
    if element == "char" and bare.endswith("*") and not p.type.startswith("const") and f.name in kinds.STRING_BOUNDS:
        return string_out
    if element != "int" or p.type == "...":
        return plain
    array = ARRAYS.get((f.name, p.name)) or ARRAYS.get(p.name)
    if bare.endswith("]"):
        if array:
            return array
        return converted("weights_in") if p.name.endswith("weights") else plain
    if bare.endswith("*"):
        if p.name.endswith("keyval"):
            return keyval_pointer
        return integer_out(kinds.INTEGERS_OUT[p.name]) if p.name in kinds.INTEGERS_OUT else plain
    return integer_in(f, p)


def integer_in(f, p):
    if p.name == "rank" and f.name.startswith("MPI_Win_"):
        return converted("rank_in")
    if p.name == "recvtag" or (p.name == "tag" and kinds.stem_of(f.name).startswith(kinds.RECEIVES)):
        return converted("tag_in")
    if p.name == "errorcode":
        return converted(kinds.ERRORCODE_IN)
    return converted(kinds.INTEGERS_IN[p.name]) if p.name in kinds.INTEGERS_IN else plain


def wrap(text, indent):
    return textwrap.fill(text, 110, initial_indent=" " * indent, subsequent_indent=" " * (indent + 4),
                         break_long_words=False, break_on_hyphens=False)


# ---- Usual arguments in few instructions ----


def same_type(f, p):
    """Returns the datatype before a target's, which equals it in most calls."""
    return "origin_datatype" if p.name == "target_datatype" else None


def quick_argument(f, p, tests, negative, lines, actuals):
    """Adds the test whether a parameter is a usual one, and the argument that is passed then."""
    bare = p.type.removeprefix("const ").strip()
    element = bare.removesuffix("*").strip()
    if bare in kinds.HANDLES:
        stem = kinds.HANDLES[bare]
        lines.append(f"{bare} c_{p.name};")
        other = same_type(f, p)
        test = f"{stem}_quickly({p.name}, &c_{p.name})"
        if any(q.name == other for q in f.parameters):  # two datatypes take longer in the library, too
            lines.pop()
            tests.insert(0, f"{p.name} == {other}")
            actuals.append(f"c_{other}")
            return
        tests.append(test)
        actuals.append(f"c_{p.name}")
    elif element == "MPI_Request":
        old = f.name in kinds.INOUT_HANDLES
        if old:
            tests.append(f"is_memory({p.name}) && request_quickly(*{p.name}, &c_old)")
            lines.append("MPI_Request c_old;")
        else:
            tests.append(f"CAN_MAKE_REQUEST({p.name})")
        actuals.append(f"PLACE_OF_REQUEST({p.name})")
    elif element == "MPI_Status":
        actuals.append("STATUS")
    elif is_address(p):
        tests.append(f"!is_converted({p.name})")
        actuals.append(p.name)
    else:
        conversion = integer_in(f, p) if p.type == "int" else plain
        probe = Body()
        conversion(probe, f, p)
        if probe.actuals[0] not in (p.name, f"rank_in({p.name})", f"tag_in({p.name})"):
            raise ValueError(f"{f.name} converts {p.name}, which has no quick form")
        if probe.actuals[0] != p.name:
            negative.append(p.name)
        actuals.append(p.name)


def outcome(before, call, back):
    """Returns lines that convert the results at once. Cleanups of variables do so only if these are not reached."""
    if not back:
        return [*before, f"return error_out({call});"]
    return [*before, f"const int outcome = {call};", "if (UNLIKELY(outcome != MPI_SUCCESS)) return error_out(outcome);",
            *back, "return MPI_SUCCESS;"]


def indented(lines):
    return ["    " + line for line in lines]


def parameter_of(f, c_type):
    return next((p.name for p in f.parameters if p.type == c_type), None)


def quick(f):
    """Returns the function for usual arguments. It calls long_X() for all others, and wanted_X() for a status."""
    name = f.name.removeprefix(PREFIX)
    tests, negative, lines, actuals = [], [], [], []
    for p in f.parameters:
        quick_argument(f, p, tests, negative, lines, actuals)
    if negative:
        tests.insert(0, f"({' | '.join(negative)}) >= 0")
    formals = ", ".join(formal(p) for p in f.parameters)
    names = ", ".join(p.name for p in f.parameters)
    request, status = parameter_of(f, "MPI_Request *"), parameter_of(f, "MPI_Status *")
    old = [f"OLD_REQUEST({request}, c_old);"] if request and f.name in kinds.INOUT_HANDLES else []
    back = [f"BACK_REQUEST({request});" for _ in old]

    def call(place_of_status):
        return f"heddle.{name}({', '.join(place_of_status if a == 'STATUS' else a for a in actuals)})"

    def given(*more):
        usual = " && ".join([*tests, *more])
        return [*lines, f"if (UNLIKELY(!({usual}))) return long_{name}({names});"]

    text = []
    if status:
        text += [f"static __attribute__((noinline)) int wanted_{name}({formals}) {{",
                 *indented(given(f"is_wanted({status})")),
                 *indented(outcome([*old, f"WANTED_STATUS_OUT({status});"], call(f"PLACE_OF_WANTED_STATUS({status})"),
                                   [f"BACK_WANTED_STATUS({status});", *back])), "}"]
    text.append(f"FUNCTION(int, {name}, ({formals})) {{")
    if status:
        text.append(f"    if (!is_ignored({status})) return wanted_{name}({names});")
    text += indented(given())
    if f.name not in kinds.WITHOUT_WAITING:
        text += indented(outcome(old, call("MPI_STATUS_IGNORE"), back))
    else:
        if request:
            text += ["#ifdef MAKING_REQUEST_HERE", f"    MAKING_REQUEST_HERE({name}, {request}, {', '.join(actuals[:-1])});",
                     "#else"]
            actuals[-1] = f"(PlaceOfRequest){request}"
        text.append(f"    return last.{name}({', '.join(actuals)});")
        if request:
            text.append("#endif")
    return "\n".join([*(wrap(line.lstrip(), len(line) - len(line.lstrip())) for line in text), "}",
                      f"SECOND_NAME({name})"])


def makes_request(f):
    return f.parameters[-1].type == "MPI_Request *"


def last_formals(f):
    """Returns the formals, all of them converted, but for the place of a request."""
    formals = [re.sub(r"^([^\[]*)(.*)$", rf"\1 {p.name}\2", p.type) for p in f.parameters]
    return ", ".join([*formals[:-1], "PlaceOfRequest request"] if makes_request(f) else formals)


def last_of(functions):
    return [f for f in functions if f.name in kinds.WITHOUT_WAITING]


def unless_made_here(f, text):
    """Returns text that is left out if the face's functions that make requests convert them themselves."""
    return f"#ifndef MAKING_REQUEST_HERE\n{text}\n#endif" if makes_request(f) else text


def last_header(functions):
    members = "\n".join(unless_made_here(f, wrap(f"int (*{f.name.removeprefix(PREFIX)})({last_formals(f)});", 4))
                        for f in last_of(functions))
    return WRITTEN + f"struct LastFunctions {{\n{members}\n}};\n"


def last_functions(functions):
    """Returns the functions that convert errors, and the one that puts them into their places."""
    parts, members, stores = [], [], []
    for f in last_of(functions):
        name = f.name.removeprefix(PREFIX)
        names = [p.name for p in f.parameters]
        head = f"static __attribute__((noinline)) int returning_{name}({last_formals(f)}) {{"
        line = (f"MAKING_REQUEST({name}, request, {', '.join(names[:-1])});" if makes_request(f)
                else f"return error_out(heddle.{name}({', '.join(names)}));")
        parts.append(unless_made_here(f, "\n".join([wrap(head, 0), wrap(line, 4), "}"])))
        members.append(unless_made_here(f, f"    .{name} = returning_{name},"))
        stores.append(unless_made_here(f, wrap(
            f"__atomic_store_n(&last.{name}, errors_are_fatal ? heddle.{name} : returning_{name}, __ATOMIC_RELAXED);", 4)))
    return "\n\n".join([*parts, "\n".join(["struct LastFunctions last = {", *members, "};"]),
                        "\n".join(["void set_last_functions(bool errors_are_fatal) {", *stores, "}"])])


def direct_of(functions):
    return [f for f in functions if f.name in kinds.DIRECT]


def direct_header(functions):
    members = "\n".join(wrap(f"int (*{f.name.removeprefix(PREFIX)})({', '.join(formal(p) for p in f.parameters)});", 4)
                        for f in direct_of(functions))
    return WRITTEN + f"struct DirectFunctions {{\n{members}\n}};\n"


def direct_function(f):
    """Returns the function that calls the library with unconverted arguments, and long_X(), which converts them."""
    name = f.name.removeprefix(PREFIX)
    formals, names = ", ".join(formal(p) for p in f.parameters), ", ".join(p.name for p in f.parameters)
    return "\n".join([long_function(f, LONG), wrap(f"FUNCTION(int, {name}, ({formals})) {{", 0),
                      wrap(f"return direct.{name}({names});", 4), "}", f"SECOND_NAME({name})"])


def direct_functions(functions):
    """Returns the functions that put the library's functions into their places."""
    names = [f.name.removeprefix(PREFIX) for f in direct_of(functions)]
    return "\n".join(["struct DirectFunctions direct = {", *(f"    .{name} = long_{name}," for name in names), "};",
                      "void set_direct_functions(HeddleDirectCall* const* functions) {",
                      *(wrap(f"direct.{name} = (__typeof__(direct.{name}))functions[heddle_direct_{name}];", 4)
                        for name in names), "}",
                      "void set_long_calls(HeddleFace* face) {",
                      *(wrap(f"face->long_calls[heddle_direct_{name}] = (HeddleDirectCall*)long_{name};", 4)
                        for name in names), "}"])


LONG = "static __attribute__((noinline)) {returns} long_{name}({formals}) {{"


def function(f):
    name = f.name.removeprefix(PREFIX)
    if f.name in kinds.DIRECT:
        return direct_function(f)
    if f.name not in kinds.QUICK:
        return "\n".join([long_function(f, "FUNCTION({returns}, {name}, ({formals})) {{"), f"SECOND_NAME({name})"])
    return long_function(f, LONG) + "\n" + quick(f)


def long_function(f, head):
    body = Body()
    for p in f.parameters:
        body.formals.append(formal(p))
        kind_of(f, p)(body, f, p)
    name = f.name.removeprefix(PREFIX)
    head = wrap(head.format(returns=f.returns, name=name, formals=", ".join(body.formals) or "void"), 0)
    call = f"heddle.{name}({', '.join(body.actuals)})"
    if f.returns != "int":
        lines = [f"return {call};"]
    elif not body.on_success:
        lines = [*body.before, f"return error_out({call});"]
    else:
        lines = [*body.before, f"const int outcome = {call};", "if (LIKELY(outcome == MPI_SUCCESS)) {",
                 *("    " + line for line in body.on_success), "}", "return error_out(outcome);"]
    return "\n".join([head, *(wrap(line.lstrip(), 4 + len(line) - len(line.lstrip())) for line in lines), "}"])


WRITTEN = "/* SPDX-License-Identifier: BSD-3-Clause */\n/* Written by faces/generate.py. */\n\n"


def calls(functions):
    written = [function(f) for f in functions if f.name not in kinds.BY_HAND]
    return WRITTEN + '#include "face.h"\n\n' + "\n\n".join(
        [last_functions(functions), *written, direct_functions(functions)]) + "\n"


def heddle_functions(functions):
    """Returns the library's functions, which are found by name when the face is loaded."""
    names = [f.name.removeprefix(PREFIX) for f in functions]
    names += sorted(f"{x}_{way}" for x in ("Comm", "Type", "Errhandler", "File", "Group", "Info", "Message", "Op",
                                           "Request", "Session", "Win") for way in ("toint", "fromint"))
    members = "\n".join(f"    __typeof__(&PMPI_{name}) {name};" for name in names)
    texts = "\n".join(f'    X({name}) \\' for name in names)
    return (WRITTEN + "#ifndef HEDDLE_FUNCTIONS_H\n#define HEDDLE_FUNCTIONS_H\n\n#include <mpi.h>\n\n"
            f"struct HeddleFunctions {{\n{members}\n}};\n\n#define HEDDLE_FUNCTIONS(X) \\\n{texts}\n\n#endif\n")

# SPDX-License-Identifier: BSD-3-Clause
"""The C functions behind the bindings: a function for each name that Fortran calls.

A function converts its arguments, calls MPI, and converts the results. Each parameter adds the lines that its
kind needs to a Body; the Body writes them in order.
"""

import textwrap
from dataclasses import dataclass, field

import bindings
import model

INDENT = "    "
REGISTERS = 6  # arguments that are passed in registers (x86-64)

# Lines after the call of functions that complete requests. A request's copied sections and converted arrays live until then.
COMPLETION = {
    "MPI_Wait": "completed(*request, last);",
    "MPI_Test": "if (c_flag) completed(*request, last);",
    "MPI_Waitall": "for (int i = 0; i < *count; ++i) completed(array_of_requests[i], last);",
    "MPI_Testall": "for (int i = 0; c_flag && i < *count; ++i) completed(array_of_requests[i], last);",
    "MPI_Waitany": "if (c_index >= 0) completed(array_of_requests[c_index], last);",
    "MPI_Testany": "if (c_flag && c_index >= 0) completed(array_of_requests[c_index], last);",
    "MPI_Waitsome": "for (int i = 0; i < *outcount; ++i) completed(array_of_requests[array_of_indices[i]], last);",
    "MPI_Testsome": "for (int i = 0; i < *outcount; ++i) completed(array_of_requests[array_of_indices[i]], last);",
    "MPI_Request_get_status": "if (c_flag) completed(*request, last);",
    "MPI_Request_get_status_all": "for (int i = 0; c_flag && i < *count; ++i) completed(array_of_requests[i], last);",
    "MPI_Request_get_status_any": "if (c_flag && c_index >= 0) completed(array_of_requests[c_index], last);",
    "MPI_Request_get_status_some":
        "for (int i = 0; i < *outcount; ++i) completed(array_of_requests[array_of_indices[i]], last);",
}
BEFORE_CALL = {
    "MPI_Start": "started(*request);",
    "MPI_Startall": "for (int i = 0; i < *count; ++i) started(array_of_requests[i]);",
    "MPI_Request_free": "freed(*request);",
    # After an error no request is complete.
    "MPI_Waitsome": "*outcount = 0;",
    "MPI_Testsome": "*outcount = 0;",
    "MPI_Request_get_status_some": "*outcount = 0;",
}

SENTINELS = {
    ("bottom",): "or_bottom", ("bottom", "in_place"): "or_in_place", ("buffer_automatic",): "or_automatic",
    ("unweighted", "weights_empty"): "or_unweighted", ("errcodes_ignore",): "or_no_errcodes",
    ("status_ignore",): "or_ignore", ("statuses_ignore",): "or_ignore_all",
}


def stem(handle):
    return model.HANDLES[handle].lower()


@dataclass
class Body:
    """The parts of a function in the order in which they are written."""

    binding: bindings.Binding
    f08: bool
    short: bool = False  # handles are constants and buffers have no gaps
    formals: list = field(default_factory=list)
    first: list = field(default_factory=list)  # before all other declarations
    lengths: list = field(default_factory=list)  # of CHARACTER arguments, at the end
    declarations: list = field(default_factory=list)
    checks: list = field(default_factory=list)  # (condition of failure, error)
    conversions: list = field(default_factory=list)  # done if the checks pass
    actuals: list = field(default_factory=list)
    always: list = field(default_factory=list)
    on_success: list = field(default_factory=list)
    cleanup: list = field(default_factory=list)


def add(body, f, p):
    ADD[p.kind](body, f, p)


def by_address(c_type):
    def adder(body, f, p):
        const = "const " if p.intent == "in" else ""
        body.formals.append(f"{const}{c_type(p)}* {p.name}")
        scalar_in = p.intent == "in" and p.kind in ("integer", "kind_integer")
        if p.sentinels:
            body.actuals.append(f"{SENTINELS[p.sentinels]}({p.name})")
        else:
            body.actuals.append(("*" if scalar_in else "") + p.name)
    return adder


def ranges_or_integers(body, f, p):
    by_address(lambda _: "MPI_Fint")(body, f, p)
    if p.name == "ranges":
        body.actuals[-1] = "(int(*)[3])ranges"


def argument(body, f, p):
    body.actuals.append("0" if p.c_type == "int" else "NULL")


def logical(body, f, p):
    if p.intent == "in":
        body.formals.append(f"const MPI_Fint* {p.name}")
        body.actuals.append(f"logical_in(*{p.name})")
    else:
        body.formals.append(f"MPI_Fint* {p.name}")
        body.declarations.append(f"int c_{p.name} = 0;")
        body.actuals.append(f"&c_{p.name}")
        body.on_success.append(f"*{p.name} = logical_out(c_{p.name});")


def room(body, f, p, element, length, heap=False):
    """Adds an array that C gets instead of Fortran's."""
    body.declarations.append(f"const int {p.name}_length = {length};")
    body.declarations.append(f"Room room_{p.name};")
    enter = "enter_for_long" if heap else "enter"
    body.declarations.append(
        f"{element}* c_{p.name} = {enter}(&room_{p.name}, {p.name}_length, sizeof *c_{p.name});")
    body.checks.append((f"c_{p.name} == NULL", f'no_memory("{f.name}")'))
    if not heap:
        body.cleanup.append(f"leave(&room_{p.name});")


def for_each(p, statement):
    return f"for (int i = 0; i < {p.name}_length; ++i) {statement}"


def logicals(body, f, p):
    const = "const " if p.intent == "in" else ""
    body.formals.append(f"{const}MPI_Fint* {p.name}")
    room(body, f, p, "int", p.length)
    body.actuals.append(f"c_{p.name}")
    if p.intent == "in":
        body.conversions.append(for_each(p, f"c_{p.name}[i] = logical_in({p.name}[i]);"))
    else:  # elements that C does not write keep their value
        body.conversions.append(for_each(p, f"c_{p.name}[i] = -1;"))
        body.on_success.append(
            for_each(p, f"if (c_{p.name}[i] >= 0) {p.name}[i] = logical_out(c_{p.name}[i]);"))


def index(body, f, p):
    body.formals.append(f"MPI_Fint* {p.name}")
    body.declarations.append(f"int c_{p.name} = MPI_UNDEFINED;")
    body.actuals.append(f"&c_{p.name}")
    # If the flag is false, the index is undefined.
    body.always.append(f"*{p.name} = index_out(c_{p.name});")


def indices(body, f, p):
    body.formals.append(f"MPI_Fint* {p.name}")
    body.actuals.append(p.name)
    body.always.append(f"for (int i = 0; i < *outcount; ++i) {p.name}[i] = index_out({p.name}[i]);")


def handle(body, f, p):
    s = stem(p.base)
    if p.intent == "in":
        body.formals.append(f"const MPI_Fint* {p.name}")
        body.actuals.append(f"({p.base})constant_in(*{p.name})" if body.short else f"{s}_in(*{p.name})")
        if p.c_type.endswith("*"):
            body.declarations.append(f"{p.base} c_{p.name} = {body.actuals.pop()};")
            body.actuals.append(f"&c_{p.name}")
        return
    body.formals.append(f"MPI_Fint* {p.name}")
    body.actuals.append(f"&c_{p.name}")
    if p.intent == "inout":
        body.declarations.append(f"{p.base} c_{p.name} = {s}_in(*{p.name});")
        body.always.append(f"*{p.name} = {s}_out(c_{p.name});")
    else:
        if body.short:  # a store costs less than a test for a request
            body.declarations.append(f"{p.base} c_{p.name} = MPI_REQUEST_NULL;")
            body.always.append(f"*{p.name} = lower_half(c_{p.name});")
            return
        body.declarations.append(f"{p.base} c_{p.name};")
        body.on_success.append(f"*{p.name} = {s}_out(c_{p.name});")


def handles(body, f, p):
    s = stem(p.base)
    const = "const " if p.intent == "in" else ""
    body.formals.append(f"{const}MPI_Fint* {p.name}")
    long = "alltoallw" in f.stem and f.nonblocking
    length = p.length
    if p.name == "sendtypes" and "in_place" in f.parameters[0].sentinels:
        described = body.f08 and body.binding.choice != "address"
        sent = "copy_sendbuf.base" if described else "or_in_place(sendbuf)"
        length = f"{sent} == MPI_IN_PLACE ? 0 : {length}"
    room(body, f, p, p.base, length, heap=long)
    body.actuals.append(f"c_{p.name}")
    if p.intent == "out":  # elements that C does not write keep their value
        body.conversions.append(for_each(p, f"c_{p.name}[i] = ({p.base})0;"))
        body.on_success.append(for_each(p, f"if (c_{p.name}[i] != ({p.base})0) {p.name}[i] = {s}_out(c_{p.name}[i]);"))
        return
    body.conversions.append(for_each(p, f"c_{p.name}[i] = {s}_in({p.name}[i]);"))
    if p.intent == "inout":
        body.always.append(for_each(p, f"{p.name}[i] = {s}_out(c_{p.name}[i]);"))
    if long:
        body.cleanup.append(f"pending = add_array(pending, &room_{p.name}, {persistent(f)});")


def persistent(f):
    return "true" if f.name.removesuffix("_c").endswith("_init") else "false"


def status(body, f, p):
    const = "const " if p.intent == "in" else ""
    body.formals.append(f"{const}MPI_Fint* {p.name}")
    body.actuals.append(f"{SENTINELS[p.sentinels]}({p.name})" if p.sentinels
                        else f"({const}MPI_Status*){p.name}")


def string(body, f, p):
    name = p.name
    const = "const " if p.intent == "in" else ""
    if body.f08 and f.has_choice and body.binding.choice == "descriptor":  # bind(C)
        body.formals.append(f"const Descriptor* {name}")
        text, length = f"{name}->base", f"{name}->element"
    else:
        body.formals.append(f"{const}char* {name}")
        body.lengths.append(f"Length {name}_length")
        text, length = name, f"{name}_length"
    if p.intent == "in":
        trim = "trimmed_in" if f.name.startswith("MPI_Info_") else "string_in"
        body.declarations.append(f"String string_{name};")
        body.declarations.append(f"char* c_{name} = {trim}(&string_{name}, {text}, {length});")
        body.checks.append((f"c_{name} == NULL", f'no_memory("{f.name}")'))
        body.actuals.append(f"c_{name}")
        body.cleanup.append(f"leave_string(&string_{name});")
    else:
        body.declarations.append(f"char c_{name}[{model.STRING_BOUNDS[f.name]}];")
        body.actuals.append(f"c_{name}")
        body.on_success.append(f"string_out({text}, {length}, c_{name});")


def pointer(body, f, p):
    body.formals.append(f"MPI_Aint* {p.name}")
    body.declarations.append(f"void* c_{p.name} = NULL;")
    body.actuals.append(f"&c_{p.name}")
    body.on_success.append(f"*{p.name} = (MPI_Aint)c_{p.name};")


def detached(body, f, p):
    if body.f08:
        pointer(body, f, p)
        body.on_success[-1] = f"*{p.name} = (MPI_Aint)automatic_out(c_{p.name});"
        return
    # mpif.h and mpi cannot return the address (MPI 5.0, 3.6).
    body.formals.append(f"void* {p.name}")
    body.declarations.append(f"void* c_{p.name} = NULL;")
    body.declarations.append(f"(void){p.name};")
    body.actuals.append(f"&c_{p.name}")


def choice(body, f, p):
    if not body.f08 or body.binding.choice == "address":
        const = "const " if p.intent == "in" else ""
        body.formals.append(f"{const}void* {p.name}")
        body.actuals.append(f"{SENTINELS[p.sentinels]}({p.name})")
        return
    if body.binding.choice == "gfortran":
        body.formals.append(f"const Array* array_{p.name}")
        body.first += [f"Section section_{p.name};",
                       f"const Descriptor* {p.name} = described(array_{p.name}, &section_{p.name});"]
    else:
        body.formals.append(f"const Descriptor* {p.name}")
    if body.short:
        body.actuals.append(f"{p.name}->base")
    elif p.section == "message":
        body.declarations.append(
            f'Elements c_{p.name} = elements_in({p.name}, *{p.count}, type_in(*{p.datatype}), "{f.name}");')
        body.checks.append((f"c_{p.name}.error != MPI_SUCCESS", f"c_{p.name}.error"))
        body.actuals.append(f"c_{p.name}.base")
        body.cleanup.append(f"leave_elements(&c_{p.name});")
    elif p.section == "copied":
        body.declarations.append(f"Copy copy_{p.name} = copy_in({p.name});")
        body.checks.append((f"is_missing(&copy_{p.name})", f'no_memory("{f.name}")'))
        body.actuals.append(f"copy_{p.name}.base")
        result = "false" if p.intent == "in" else "true"
        if f.nonblocking:
            body.cleanup.append(f"pending = add_copy(pending, &copy_{p.name}, {result}, {persistent(f)});")
        else:
            body.cleanup.append(f"leave_copy(&copy_{p.name}, {result});")
    else:
        body.actuals.append(f"{SENTINELS[p.sentinels]}({p.name}->base)")
        if p.section == "refused":
            body.checks.append((f"!is_contiguous({p.name})", f'no_partitions("{f.name}")'))


ADD = {
    "integer": by_address(lambda p: "MPI_Fint"),
    "kind_integer": by_address(lambda p: p.base),
    "integers": ranges_or_integers,
    "kind_integers": by_address(lambda p: p.base),
    "argument": argument,
    "logical": logical,
    "logicals": logicals,
    "index": index,
    "indexs": indices,
    "handle": handle,
    "handles": handles,
    "status": status,
    "statuss": status,
    "string": string,
    "pointer": pointer,
    "detached": detached,
    "choice": choice,
}


def body_of(f, binding, f08, short=False):
    body = Body(binding, f08, short)
    for p in f.parameters:
        add(body, f, p)
    # C gets the count and the datatype that were made for a section.
    if f08 and not short and binding.choice != "address":
        names = [p.name for p in f.parameters]
        for p in f.parameters:
            if p.kind == "choice" and p.section == "message":
                count = names.index(p.count)
                body.actuals[count] = cast_count(f, f"c_{p.name}.count")
                body.actuals[count + 1] = f"c_{p.name}.type"
    return body


def cast_count(f, expression):
    return expression if f.large else f"(int){expression}"


def wrapped(head, items, tail):
    text = head + ", ".join(items) + tail
    return textwrap.fill(text.replace("const ", "const\0"), width=100, subsequent_indent=INDENT,
                         break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def write_with_short_way(f, binding, name, f08):
    """Writes a function with a short path for most calls: handles are constants, and buffers have no gaps.

    The short path calls nothing but MPI, so that it needs few registers. The rest is out of line.
    """
    general = f"general_{name}"
    formals = [formal.split()[-1] for formal in body_of(f, binding, f08).formals] + ["ierror"]
    constants = "are_constants_at_start" if returns_request(f) else "are_constants"
    short = [f"{constants}({' | '.join(f'*{h}' for h in handles_of(f))})"]
    if f08:
        short += [f"is_plain({p.name})" for p in f.parameters if p.kind == "choice"]
    first = [f"if (!LIKELY({' && '.join(short)})) {{", f"{INDENT}{general}({', '.join(formals)});",
             f"{INDENT}return;", "}"]
    first += [f"STAYS_ON_STACK({formal});" for formal in formals[REGISTERS:]]
    return (write_function(f, binding, general, f08, linkage="static GENERAL") + "\n"
            + write_function(f, binding, name, f08, short=True, first=first))


def returns_request(f):
    return any(p.kind == "handle" and p.base == "MPI_Request" and p.intent == "out" for p in f.parameters)


def handles_of(f):
    return [p.name for p in f.parameters if p.kind == "handle" and p.intent == "in"]


def write_function(f, binding, name, f08, short=False, linkage="EXPORTED", first=()):
    body = body_of(f, binding, f08, short)
    formals = body.formals + ([] if f.is_function else ["MPI_Fint* ierror"]) + body.lengths
    result = f.returns if f.is_function else "void"
    lines = [wrapped(f"{linkage} {result} {name}(", formals or ["void"], ") {")]

    def add_line(line):
        lines.append(textwrap.fill(INDENT + line, width=100, subsequent_indent=2 * INDENT,
                                   break_long_words=False, break_on_hyphens=False))

    for line in [*first, *body.first]:
        add_line(line)
    if f.name in COMPLETION:
        add_line("const uint64_t last = kept_operations;")
    call = f"{f.name}({', '.join(body.actuals)})"
    if f.is_function:
        add_line(f"return {call};")
        return "\n".join(lines + ["}"])
    for declaration in sorted(body.declarations, key=lambda d: not d.startswith("Copy")):
        add_line(declaration)
    if any("pending =" in line for line in body.cleanup):
        add_line("Pending* pending = NULL;")
    if body.checks:
        add_line("int outcome = MPI_SUCCESS;")
        for condition, failure in body.checks:
            add_line(f"if ({condition}) outcome = {failure};")
        inner = body.conversions + ([BEFORE_CALL[f.name]] if f.name in BEFORE_CALL else [])
        if inner:
            add_line("if (outcome == MPI_SUCCESS) {")
            for line in inner + [f"outcome = {call};"]:
                add_line(INDENT + line)
            add_line("}")
        else:
            add_line(f"if (LIKELY(outcome == MPI_SUCCESS)) outcome = {call};")
    else:
        for line in body.conversions + ([BEFORE_CALL[f.name]] if f.name in BEFORE_CALL else []):
            add_line(line)
        add_line(f"const int outcome = {call};")
    after = ([COMPLETION[f.name]] if f.name in COMPLETION else []) + body.always
    if body.checks and after and body.conversions:
        add_line("if (c_array_of_requests != NULL) {" if "c_array_of_requests" in "".join(body.declarations)
                 else "{")
        for line in after:
            add_line(INDENT + line)
        add_line("}")
    else:
        for line in after:
            add_line(line)
    if len(body.on_success) == 1 and len(body.on_success[0]) < 70:
        add_line(f"if (LIKELY(outcome == MPI_SUCCESS)) {body.on_success[0]}")
    elif body.on_success:
        add_line("if (LIKELY(outcome == MPI_SUCCESS)) {")
        for line in body.on_success:
            add_line(INDENT + line)
        add_line("}")
    for line in body.cleanup:
        add_line(line)
    if any("pending =" in line for line in body.cleanup):
        add_line("if (pending != NULL) keep(pending, c_request, outcome);")
    add_line("answer(ierror, outcome);")
    return "\n".join(lines + ["}"])


def names(stem_):
    """Returns the names that compilers make of an external procedure, besides the usual one."""
    return f"ALIAS({stem_}_, {stem_}__)\nALIAS({stem_}_, {stem_})\nALIAS({stem_}_, {stem_.upper()})"


def has_short_way(f):
    """Returns True for messages between two processes, which programs send most often."""
    kinds = {"choice", "integer", "kind_integer", "handle", "status"}
    return (f.chapter == "p2p" and {p.kind for p in f.parameters} <= kinds
            and all(p.section == "message" for p in f.parameters if p.kind == "choice")
            and all(p.base in ("MPI_Comm", "MPI_Datatype", "MPI_Request") for p in f.parameters if p.kind == "handle")
            and any(p.kind == "choice" for p in f.parameters))


def write(f, binding):
    """Returns everything that belongs to a function of the ABI."""
    parts = []
    if f.name not in model.BY_HAND:
        writer = write_with_short_way if binding.short_way and has_short_way(f) else write_function
        if not f.large:
            parts.append(writer(f, binding, f.stem + "_", f08=False))
        if binding.in_f08(f) and (f.large or binding.f08_is_another(f)):
            parts.append(writer(f, binding, binding.f08_name(f), f08=True))
    if not f.large:
        parts.append(names(f.stem))
        if binding.in_f08(f) and not binding.f08_is_another(f):
            parts.append(f"ALIAS({f.stem}_, {binding.f08_name(f)})")
        if any(p.kind == "pointer" for p in f.parameters):
            parts.append(f"ALIAS({f.stem}_, {f.stem}_cptr_)")
            if binding.name != "standard":
                parts.append(names(f"{f.stem}_cptr"))
    return "\n".join(parts)


HEADER = """/* SPDX-License-Identifier: BSD-3-Clause */
/* Written by fortran/generate.py: what mpif.h, mpi and mpi_f08 call, chapter "{chapter}". */

#include "fortran.h"
"""


def chapters(functions, binding):
    """Returns file name -> text. names_by_hand.h has the aliases of functions that are written by hand."""
    files, by_hand = {}, []
    for f in functions:
        if f.name in model.BY_HAND:
            by_hand.append(f)
            continue
        files.setdefault(f"calls_{f.chapter.replace('-', '_')}.c", [HEADER.format(chapter=f.chapter)]).append(write(f, binding))
    result = {name: "\n\n".join(parts) + "\n" for name, parts in files.items()}
    result["names_by_hand.h"] = (
        "/* SPDX-License-Identifier: BSD-3-Clause */\n"
        "/* Written by fortran/generate.py: NAMES_mpi_x are the other names of mpi_x_, which is written by hand. */\n\n"
        + "\n".join(f"#define NAMES_{f.stem} {' '.join(write(f, binding).split())}" for f in by_hand
                    if write(f, binding)) + "\n")
    return result


def profiling_names(functions, binding, others):
    """Returns a header that replaces MPI by PMPI. All sources are compiled a second time with it."""
    lines = ["/* SPDX-License-Identifier: BSD-3-Clause */",
             "/* Written by fortran/generate.py: every name that begins with MPI becomes one that begins with PMPI. */",
             "#ifndef HEDDLE_FORTRAN_PROFILING_NAMES_H", "#define HEDDLE_FORTRAN_PROFILING_NAMES_H"]
    for f in functions:
        lines.append(f"#define {f.name} P{f.name}")
    stems = [f.stem for f in functions if not f.large] + others
    for s in stems:
        for name in (s + "_", s + "__", s, s.upper()):
            lines.append(f"#define {name} {'P' if name.isupper() else 'p'}{name}")
    extra = ["mpi_f_sync_reg_f08ts_", "mpi_f_sync_reg_f08_", "mpi_sizeof_f08ts_", "mpi_status_f2f08_f08_",
             "mpi_status_f082f_f08_",
             "mpi_op_create_c_f08_", "mpi_register_datarep_c_f08_"]
    lines += [f"#define {name} p{name}" for name in extra]
    for f in functions:
        if binding.in_f08(f) and binding.f08_name(f) not in extra:
            lines.append(f"#define {binding.f08_name(f)} {binding.f08_profiling_name(f)}")
        if any(p.kind == "pointer" for p in f.parameters) and not f.large:
            lines.append(f"#define {f.stem}_cptr_ p{f.stem}_cptr_")
            if binding.name != "standard":
                lines += [f"#define {name} {'P' if name.isupper() else 'p'}{name}"
                          for name in (f"{f.stem}_cptr__", f"{f.stem}_cptr", f"{f.stem}_cptr".upper())]
    return "\n".join(lines + ["#endif", ""])

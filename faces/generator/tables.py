# SPDX-License-Identifier: BSD-3-Clause
"""Constants of a face: a header of those that C code names, and the conversions of groups and handles."""

import json

import calls
import facts
import kinds

NAMED = ["MPI_ANY_TAG", "MPI_IN_PLACE", "MPI_BUFFER_AUTOMATIC", "MPI_DISPLACEMENT_CURRENT", "MPI_COMM_WORLD",
         "MPI_REQUEST_NULL", "MPI_ERR_LASTCODE", "MPI_DISTRIBUTE_DFLT_DARG", "MPI_LB", "MPI_UB"]
NAMED_OBJECTS = ["MPI_LB", "MPI_UB", "MPI_COMM_WORLD", "MPI_COMM_SELF", "MPI_COMM_NULL", "MPI_REQUEST_NULL",
                 "MPI_WIN_NULL"]
AMODES = "CREATE RDONLY WRONLY RDWR DELETE_ON_CLOSE UNIQUE_OPEN EXCL APPEND SEQUENTIAL".split()
ASSERTS = "NOCHECK NOSTORE NOPUT NOPRECEDE NOSUCCEED".split()


class Abi:
    def __init__(self, name):
        data = json.loads((facts.FOLDER / name / "facts.json").read_text())
        self.name = name
        self.constants = data["constants"]
        self.objects = data.get("objects", {})  # of libraries whose handles are addresses: constant -> object
        self.sizes = data.get("sizes", {})
        self.cxx = data.get("cxx", {})  # of the same libraries: class -> object of the old C++ bindings -> constant
        self.fortran = data.get("fortran", {})  # of the same libraries: the integers that Fortran has for them


def standard():
    """Returns the values of all constants of the standard ABI, by name."""
    return {c.name: c.value for c in facts.constants()}


def standard_handles():
    """Returns name -> (type, value) of predefined handles. Aliases of others (MPI_C_COMPLEX) are left out."""
    result = {}
    for name, value in standard().items():
        for handle in kinds.HANDLES:
            if value.startswith(f"(({handle})0x"):
                result[name] = (handle, int(value.removeprefix(f"(({handle})").removesuffix(")"), 16))
    return result


def header(abi):
    lines = [calls.WRITTEN + "#ifndef HEDDLE_FACE_CONSTANTS_H", "#define HEDDLE_FACE_CONSTANTS_H", ""]
    for name in NAMED + [n for n in abi.constants if n.startswith("MPI_MAX_")]:
        if name in abi.constants:
            value = abi.constants[name]
            lines.append(f"#define F_{name} ({hex(value) if value > 2**31 else value})")
    for name in NAMED_OBJECTS:
        if name in abi.objects:
            lines += [f"extern char {abi.objects[name]}[];", f"#define F_{name} {abi.objects[name]}"]
    for group in kinds.GROUPS:
        lines.append(f"NO_THROW INTERNAL int {group}_in(int value);")
        lines.append(f"NO_THROW INTERNAL int {group}_out(int value);")
    return "\n".join([*lines, "", "#endif", ""])


def members(group):
    return [c.name for c in facts.constants()
            if any(c.name == p or (p.endswith("_") and c.name.startswith(p)) for p in kinds.GROUPS[group])
            and c.name not in kinds.OUTSIDE_GROUPS]


def group(abi, name):
    pairs = {m: abi.constants[m] for m in members(name) if m in abi.constants}
    into = dict(reversed([(value, m) for m, value in pairs.items()]))  # the first of two names with one value
    lines = [f"int {name}_in(int value) {{", "    switch (value) {"]
    lines += [f"        case {value}: return {m};" for value, m in into.items()]
    lines += ["        case MPI_UNDEFINED: return MPI_UNDEFINED;", "        default: return no_value;", "    }", "}",
              f"int {name}_out(int value) {{", "    switch (value) {"]
    pairs |= {m: pairs[other] for m, other in kinds.FALLBACKS.items() if m in members(name) and m not in pairs}
    lines += [f"        case {m}: return {value};" for m, value in pairs.items()]
    lines += ["        default: return value;", "    }", "}"]
    return "\n".join(lines)


def bits(abi, name, modes, both):
    pairs = [(abi.constants["MPI_MODE_" + m], "MPI_MODE_" + m) for m in modes]
    every = sum(value for value, _ in pairs)
    text = [f"int {name}_in(int value) {{", f"    if ((value & ~{every}) != 0) return no_value;", "    int bits = 0;"]
    text += [f"    if (value & {value}) bits |= {m};" for value, m in pairs]
    text += ["    return bits;", "}"]
    if both:
        text += [f"int {name}_out(int value) {{", "    int bits = 0;"]
        text += [f"    if (value & {m}) bits |= {value};" for value, m in pairs]
        text += ["    return bits;", "}"]
    return "\n".join(text)


def integer_handles(abi):
    """Returns the tables of libraries whose handles are integers."""
    handles = {n: (h, v) for n, (h, v) in standard_handles().items() if h != "MPI_File"}
    known = {n: (h, v, abi.constants[n]) for n, (h, v) in handles.items() if n in abi.constants}
    known = {n: (*handles[kinds.SAME_AS[n]], abi.constants[n])
             for n in kinds.SAME_AS if n in abi.constants} | known
    lines = ["const int predefined_out[handle_constants] = {"]
    seen = set()
    for name, (handle, value, face) in known.items():
        if value not in seen:
            lines.append(f"    [{value}] = (int){hex(face)}, /* {name} */")
        seen.add(value)
    lines.append("};")
    for handle, stem in kinds.HANDLES.items():
        if handle == "MPI_File":
            continue
        cases = {face: value for n, (h, value, face) in reversed(known.items()) if h == handle}
        lines += [f"INTERNAL uintptr_t predefined_{stem}(unsigned handle);",
                  f"uintptr_t predefined_{stem}(unsigned handle) {{", "    switch (handle) {"]
        lines += [f"        case {hex(face)}: return {value};" for face, value in cases.items()]
        lines += ["        default: return 0;", "    }", "}"]
    for table, handle, size in (("types_by_last_byte", "MPI_Datatype", 256), ("ops_by_last_byte", "MPI_Op", 16)):
        lines.append(f"const HeddleInteger {table}[{size}] = {{")
        places = {}
        for n, (h, value, face) in known.items():
            if h == handle and (face % size not in places or face >> 24 == 0x4C):
                places.setdefault(face % size, (face, value, n))
                if face >> 24 == 0x4C:
                    old = places[face % size]
                    places[face % size] = (face, value, n) if old[0] >> 24 != 0x4C else old
        lines += [f"    [{place}] = {{{hex(face)}, {value}}}, /* {n} */" for place, (face, value, n) in places.items()]
        lines.append("};")
    return "\n".join(lines)


def object_handles(abi):
    """Returns the tables of libraries whose predefined handles are addresses of objects."""
    handles = standard_handles()
    objects = {}  # object -> (type, value or None)
    for name, symbol in sorted(abi.objects.items(), key=lambda item: item[0] not in kinds.SAME_AS):
        if kinds.SAME_AS.get(name, name) in handles:
            objects.setdefault(symbol, handles[kinds.SAME_AS.get(name, name)])
        elif symbol not in objects:
            objects[symbol] = None
    unknown = {s for s, known in objects.items() if known is None}
    objects.update({s: ("MPI_Datatype", 0) for s in unknown})
    lines = []
    for symbol, (handle, value) in objects.items():
        lines.append(f"EXPORTED _Alignas(32) char {symbol}[{abi.sizes[handle]}] = {{1}};")
    lines.append("const Predefined objects_of_library[] = {")
    lines += [f"    {{{symbol}, {value}}}," for symbol, (handle, value) in objects.items()]
    lines += ["};", f"const int objects_in_library = {len(objects)};"]
    return "\n".join(lines + numbers(abi, handles))


def numbers(abi, handles):
    """Returns tables of Fortran's integers of predefined handles: by the standard ABI's constants, and back by kinds."""
    known = {n: (*handles[n], number) for n, number in abi.fortran.items() if n in handles}
    lines = ["const short fortran_numbers[handle_constants] = { /* 0: none; others plus one */"]
    lines += [f"    [{value}] = {number + 1}, /* {n} */"
              for value, (n, number) in {v: (n, i) for n, (h, v, i) in reversed(known.items())}.items()]
    lines.append("};")
    for handle, stem in kinds.HANDLES.items():
        mine = {number: abi.objects[n] for n, (h, value, number) in reversed(known.items()) if h == handle}
        lines.append(f"const Numbered numbered_{stem} = {{{max(mine) + 1}, {{")
        lines += [f"    [{number}] = {symbol}," for number, symbol in mine.items()]
        lines.append("}};")
    return lines


def source(abi):
    parts = [calls.WRITTEN + '#include "face.h"\n']
    parts += [group(abi, name) for name in kinds.GROUPS]
    parts += [bits(abi, "amode", AMODES, True), bits(abi, "assert", ASSERTS, False)]
    ranks = {abi.constants[m]: m for m in members("special_rank")}
    parts.append("const int special_ranks_in[4] = {"
                 + ", ".join(ranks.get(-1 - i, "no_value") for i in range(4)) + "};")
    parts.append(object_handles(abi) if abi.objects else integer_handles(abi))
    return "\n\n".join(parts) + "\n"

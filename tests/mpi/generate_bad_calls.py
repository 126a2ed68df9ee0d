#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a call of every MPI function in which one argument at a time is wrong.

    tests/mpi/generate_bad_calls.py OUTPUT [PART ...]       (PYTHONPATH=abi)

OUTPUT is a C file that bad_calls.c includes. It has a C function for each function of abi/functions.json, and a table of
these. A C function makes the call with good arguments, except the one that it is asked to spoil. Good and bad values
follow from the type of a parameter, and from its name if that says more. Functions whose names have a PART, which another
ABI lacks, are left out.
"""

import sys
from pathlib import Path

import facts

# Functions that end the process, or take something that C cannot name.
LEFT_OUT = {"MPI_Abort", "MPI_Finalize", "MPI_Init", "MPI_Init_thread", "MPI_Pcontrol"}
HANDLES = {
    "MPI_Comm": "good_comm", "MPI_Datatype": "good_type", "MPI_Group": "good_group", "MPI_Info": "good_info",
    "MPI_Op": "MPI_SUM", "MPI_Request": "good_request", "MPI_Errhandler": "MPI_ERRORS_RETURN",
    "MPI_Message": "MPI_MESSAGE_NO_PROC", "MPI_Session": "good_session", "MPI_Win": "MPI_WIN_NULL",
    "MPI_File": "good_file",
}
# Handles of the tool interface, which are pointers that the program must not make up.
TOOL_HANDLES = {"MPI_T_pvar_session", "MPI_T_event_registration", "MPI_T_pvar_handle", "MPI_T_event_instance",
                "MPI_T_cvar_handle", "MPI_T_enum"}
NUMBERS = {"int", "const int", "MPI_Count", "MPI_Aint", "MPI_Offset", "MPI_T_cb_safety"}
RANKS = {"dest", "source", "root", "rank", "target_rank", "local_leader", "remote_leader"}
# Arrays that begin with a null pointer and constants that stand for addresses: MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC and so on.
CONSTANTS = {"bad_addresses", "bad_arrays", "bad_handle_addresses"}
REFUSED = 0b111110  # all but the null pointer
IN_PLACE, AUTOMATIC = 1 << 1, 1 << 2
# Parameters for which any address will do in the calls of this file: all counts are 0, or there is no peer.
NOTHING = {"Alltoallv": {"sendbuf", "recvbuf"}, "Alltoallw": {"sendbuf", "recvbuf"}, "Reduce_scatter": {"sendbuf", "recvbuf"},
           "Scatterv": {"sendbuf"}, "Exscan": {"recvbuf"}, "Mrecv": {"buf"}, "Session_get_nth_pset": {"pset_name"},
           "Dist_graph_create": {"sources", "degrees", "destinations", "weights"}}
# Parameters that accept every address, whatever lies there.
ANY_ADDRESS = {"attribute_val", "extra_state", "location", "user_data", "obj_handle"}


def good_number(function: facts.Function, name: str) -> str:
    has = {p.name for p in function.parameters}
    if name in RANKS or name in {"key", "color", "disp", "lb", "n", "direction"}:
        return "0"
    if name == "sendtag" or (name == "tag" and "dest" in has):
        return "5"  # there is a receive
    if name in {"recvtag", "tag"}:
        return "6"  # there is a message
    return {"order": "MPI_ORDER_C", "split_type": "MPI_COMM_TYPE_SHARED", "outsize": "4096", "insize": "4096",
            "typeclass": "MPI_TYPECLASS_INTEGER"}.get(name, "1")


def parameter(function: facts.Function, p: facts.Parameter) -> tuple[str, str, str]:
    """Returns the declaration of a variable {0}, its good value, and the name of the array of bad ones."""
    base = p.type.removeprefix("const ").strip()
    if base in NUMBERS:
        return f"{base} {{0}}", good_number(function, p.name), "bad_ranks" if p.name in RANKS else "bad_numbers"
    if base in HANDLES:
        return f"{base} {{0}}", HANDLES[base], "bad_handles"
    if base in TOOL_HANDLES:
        return f"{base} {{0}}", "NULL", "no_handles"
    pointee = base.replace("[]", "").replace("*", "").strip()
    if pointee.endswith("function") or pointee.endswith("function_c"):
        return f"{pointee}* {{0}}", "NULL", "bad_functions"
    if "[3]" in base:
        return "int (*{0})[3]", "(void*)zeros", "bad_addresses"
    if pointee == "MPI_T_source_order":
        return "MPI_T_source_order* {0}", "(void*)place", "bad_addresses"
    good = {"char": '"mpi://WORLD"' if "const" in p.type else "(void*)place"}.get(pointee, "(void*)place")
    bad = "bad_addresses"
    if pointee in HANDLES:
        good, bad = f"(void*)&place_of_{pointee}", "bad_handle_addresses"
    elif base.endswith("[]") and pointee in {"int", "MPI_Count", "MPI_Aint"}:
        good, bad = "(void*)zeros", "bad_arrays"
    elif pointee == "void":
        good = "(void*)(memory + 65536 * (2 + %d))" % list(function.parameters).index(p)
        bad = "any_addresses" if p.name in ANY_ADDRESS else "bad_addresses"
    elif p.name == "argc":
        good = "(void*)zeros"
    elif p.name in {"buflen", "pset_len", "position"}:
        good = "(void*)zeros"
    stars = p.type.count("*") + p.type.count("[]")
    return f"{pointee} {'*' * stars}{{0}}", good, bad


def refused_constants(function: facts.Function, p: facts.Parameter) -> int:
    """Returns a mask. Bit i: the call with bad_addresses[i] must not succeed."""
    base = function.name.removeprefix("MPI_").removesuffix("_c").removesuffix("_init")
    if base[0] == "I" and base[1].islower():
        base = base[1:].capitalize()
    has = {p.name for p in function.parameters}
    if p.name in NOTHING.get(base, ()) or (p.name.startswith(("ranks", "ranges")) and "n" in has):
        return 0
    collective = {"sendbuf", "recvbuf"} <= has and "dest" not in has
    if collective and p.name == ("recvbuf" if base.startswith("Scatter") else "sendbuf"):
        return REFUSED & ~IN_PLACE
    return REFUSED & ~AUTOMATIC if "attach" in base and p.name == "buffer" else REFUSED


def takes_type(function: facts.Function) -> bool:
    return any(p.type == "MPI_Datatype" for p in function.parameters)


def call(function: facts.Function) -> str:
    lines, names, spoil, ways, refused = [], [], [], [], []
    for i, p in enumerate(function.parameters):
        name = f"a{i}"
        declaration, good, bad = parameter(function, p)
        cast = declaration.replace("{0}", "").strip()
        pointer = not (p.type.removeprefix("const ") in NUMBERS)
        lines.append(f"    {declaration.format(name)} = {good};")
        value = f"{bad}[way]"
        ways.append(f"COUNT({bad})")
        refused.append(str(refused_constants(function, p) if bad in CONSTANTS else 0))
        spoil.append(f"        case {i}: {name} = ({cast})" + (f"(void*){value}; break;" if pointer else f"{value}; break;"))
        names.append(name)
    result = "" if function.returns == "int" else "(void)"
    body = f"{function.name}({', '.join(names)})"
    done = f"return {body};" if not result else f"(void){body};\n    return MPI_SUCCESS;"
    switch = "    switch (argument) {\n" + "\n".join(spoil) + "\n    }\n"
    counts = (f"static const unsigned ways_{function.name}[] = {{{', '.join(ways)}}};\n"
              f"static const unsigned char refused_{function.name}[] = {{{', '.join(refused)}}};\n")
    return counts + (f"static int call_{function.name}(int argument, unsigned way) {{\n" + "\n".join(lines) + "\n"
            + switch + f"    {done}\n}}\n")


def main() -> int:
    functions = [f for f in facts.functions() if f.name not in LEFT_OUT and f.parameters
                 and not any(part in f.name for part in sys.argv[2:])]
    rows = "".join(f'    {{"{f.name}", call_{f.name}, ways_{f.name}, refused_{f.name}, {len(f.parameters)}, '
                   f'{int(takes_type(f))}}},\n' for f in functions)
    text = ("/* Generated by tests/mpi/generate_bad_calls.py. */\n" + "\n".join(map(call, functions))
            + "\nstatic const struct function functions[] = {\n" + rows + "};\n")
    facts.write_if_changed(Path(sys.argv[1]), text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the wrappers that trace MPI's functions, from the facts of the ABI.

    trace/generate.py --output FOLDER

FOLDER receives
    functions.hpp   the functions that are traced: their names, and which ranks wait for which in them
    wrappers.cpp    MPI_X for each: records the call, and calls PMPI_X
"""

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "abi"))
import facts  # noqa: E402

PATTERNS = {
    "environment": r"Init|Init_thread|Finalize|Session_init|Session_finalize|Abort",
    "p2p": r"(?!.*buffer).*",
    "request": r"Wait.*|Test(all|any|some)?|Start.*|Cancel|Request_free",
    "collective": r"(?!Op_|Reduce_local).*",
    "neighborhood": r".*",
    "partitioned": r".*",
    "rma": r"(?!Win_(get|set)_|Win_shared_query|Win_(at|de)tach|Win_test).*",
    "communicator": r"Comm_(create|dup|idup|split|free)(?!_keyval|_errhandler).*|Intercomm_.*",
    "topology": r"Cart_create|Cart_sub|Graph_create|Dist_graph_create.*",
    "dynamic": r"Comm_.*|Publish_name|Lookup_name",
    "io": r"File_(open|close|delete|i?read.*|i?write.*|sync|set_size|set_view|preallocate)",
}
LEFT_OUT = {"Comm_get_parent"}
SENDS = {"Send", "Bsend", "Ssend", "Rsend"}
ALL = r"(I?(neighbor_)?(all(gather|reduce|toall)[vw]?|barrier|reduce_scatter(_block)?))"
FROM_ROOT = r"(I?(bcast|scatterv?))"
TO_ROOT = r"(I?(reduce|gatherv?))"
SCANS = r"(I?(ex)?scan)"


def base(function: facts.Function) -> str:
    return function.name[len("MPI_"):].removesuffix("_c")


def is_traced(function: facts.Function) -> bool:
    pattern = PATTERNS.get(function.chapter)
    return pattern is not None and base(function) not in LEFT_OUT and function.returns == "int" \
        and re.fullmatch(pattern, base(function)) is not None


def group(function: facts.Function) -> str:
    """Returns the function's group, which says which ranks wait for which."""
    name = base(function)
    if name.endswith("_init") and name != "Session_init":
        return "other"
    for pattern, value in ((ALL, "all"), (FROM_ROOT, "from_root"), (TO_ROOT, "to_root"), (SCANS, "scan")):
        if re.fullmatch(pattern, name, re.IGNORECASE):
            return value
    if is_collective(function):
        return "all"
    if re.fullmatch(r"Wait.*|Test.*", name):
        return "completion"
    if re.fullmatch(r"I?M?recv|M?probe|I[m]?probe", name, re.IGNORECASE):
        return "receive"
    if re.fullmatch(r"I?[bsr]?send|I?sendrecv(_replace)?", name, re.IGNORECASE):
        return "send"
    return {"rma": "window", "io": "file"}.get(function.chapter, "other")


def is_collective(function: facts.Function) -> bool:
    """Returns True if all processes of the object call the function, in one order."""
    name = base(function)
    if name.endswith("_init"):
        return False
    if function.chapter in ("collective", "neighborhood"):
        return name not in ("Irecv",)
    if function.chapter == "io":
        return re.search(r"_all$|_ordered$|File_(open|close|sync|set_size|set_view|preallocate)$",
                         name) is not None and not name.startswith("File_i")
    return name in ("Win_fence", "Win_create", "Win_allocate", "Win_allocate_shared", "Win_create_dynamic", "Win_free",
                    "Comm_dup", "Comm_dup_with_info", "Comm_split", "Comm_split_type", "Comm_create", "Cart_create",
                    "Cart_sub", "Graph_create", "Dist_graph_create", "Dist_graph_create_adjacent")


class Wrapper:
    def __init__(self, function: facts.Function):
        self.function = function
        self.name = base(function)
        self.parameters = {p.name: p for p in function.parameters}
        self.before: list[str] = []
        self.after: list[str] = []
        self.arguments = {p.name: p.name for p in function.parameters}

    def of_type(self, *types: str) -> str | None:
        return next((p.name for p in self.function.parameters if p.type in types), None)

    def first(self, *names: str) -> str | None:
        return next((n for n in names if n in self.parameters and "*" not in self.parameters[n].type
                     and "[" not in self.parameters[n].type), None)

    def bytes(self) -> str:
        count = self.first("sendcount", "origin_count", "count", "recvcount")
        kind = self.first("sendtype", "origin_datatype", "datatype", "recvtype")
        if count is None or kind is None or self.name in ("Pready_range", "Pready_list"):
            return "0"
        return f"bytes_of({count}, {kind})"

    def object(self) -> str:
        if self.first("comm", "win", "fh"):
            return self.first("comm", "win", "fh")
        for name in ("MPI_Comm", "MPI_Win", "MPI_File"):
            if (found := self.of_type(name)) is not None:
                return found
        if self.name in ("Comm_free", "Comm_disconnect", "Win_free", "File_close"):
            return "*" + self.function.parameters[0].name
        return ""

    def body(self) -> str:
        request = self.of_type("MPI_Request *")
        status = self.of_type("MPI_Status *")
        thing = self.object()
        name = self.name
        if thing:
            self.before.append(f"call.object({thing});")
        peer = self.first("dest", "source", "target_rank", "root", "rank")
        if peer:
            self.before.append(f"call.peer({peer});")
        tag = self.first("sendtag", "tag")
        if tag:
            self.before.append(f"call.tag({tag});")
        size = self.bytes()
        if size != "0":
            self.before.append(f"call.bytes({size});")
        self.kind_of_call(request, status)
        for kind in ("MPI_Comm *", "MPI_Win *", "MPI_File *"):
            out = self.of_type(kind)
            if out is None or name in ("Comm_get_parent",):
                continue
            if name in ("Comm_free", "Comm_disconnect", "Win_free", "File_close"):
                self.before.append(f"call.forget(*{out});")
            else:
                self.after.append(f"call.add({out}{', ' + thing if thing else ''});")
        return self.text()

    def kind_of_call(self, request: str | None, status: str | None) -> None:
        name = self.name
        if name in SENDS:
            self.before.append("call.sends();")
        elif name in ("Isend", "Ibsend", "Issend", "Irsend"):
            self.before.append("call.sends();")
            self.after.append("call.began(*request, Pending::send);")
        elif name == "Irecv":
            self.before.append("call.receives();")
            self.after.append("call.began(*request, Pending::receive);")
        elif name == "Recv":
            self.before.append("call.receives();")
            self.own_status()
            self.after.append("call.received(*status);")
        elif name in ("Sendrecv", "Sendrecv_replace"):
            self.before.append("call.sends();")
            self.own_status()
            self.after.append("call.received_too(*status);")
        elif name in ("Isendrecv", "Isendrecv_replace"):
            self.before.append("call.sends();")
            self.after.append("call.began(*request, Pending::receive);")
        elif name in ("Mprobe", "Improbe"):
            self.own_status()
            found = "*flag != 0 && " if name == "Improbe" else ""
            self.after.append(f"if ({found}*message != MPI_MESSAGE_NO_PROC) call.began(*message, *status);")
            if name == "Improbe":
                self.after.append("call.tested(*flag != 0);")
        elif name == "Iprobe":
            self.after.append("call.tested(*flag != 0);")
        elif name in ("Mrecv", "Imrecv"):
            self.before.append("call.of_message(*message);")
            if name == "Mrecv":
                self.own_status()
                self.after.append("call.received(*status);")
            else:
                self.after.append("call.began(*request, Pending::receive);")
        elif re.fullmatch(r"(Wait|Test)(all|any|some)?", name):
            self.completion()
        elif name == "Start":
            self.before.append("call.starts(request, 1);")
        elif name == "Startall":
            self.before.append("call.starts(array_of_requests, count);")
        elif name == "Request_free":
            self.before.append("call.frees(*request);")
        elif name == "Cancel":
            self.before.append("call.cancels_one();")
        elif name in ("Init", "Init_thread"):
            self.after.append("begin_process();")
        elif name == "Finalize":
            self.before.append("end_process();")
        elif name.endswith("_init") and request:
            kind = {"Send_init": "send", "Bsend_init": "send", "Ssend_init": "send", "Rsend_init": "send",
                    "Recv_init": "receive"}.get(name, "other")
            if group(self.function) == "other" and self.function.chapter in ("collective", "neighborhood"):
                kind = "collective"
            self.after.append(f"call.made(*request, Pending::{kind});")
        elif is_collective(self.function):
            self.before.append("call.collective();")
            if request:
                self.after.append("call.began(*request, Pending::collective);")
        elif request:
            self.after.append("call.began(*request, Pending::other);")

    def own_status(self) -> None:
        self.before.append("OwnStatus own(status);")

    def completion(self) -> None:
        which = self.name.removeprefix("Wait").removeprefix("Test")
        test = self.name.startswith("Test")
        if which == "":
            certain = "" if test else ", true"
            self.before += ["OwnStatus own(status);", f"const Requests requests(call, request, 1{certain});"]
            done = "requests.complete(0, *status);"
            self.after.append(f"if (*flag != 0) {done}" if test else done)
        else:
            count = "incount" if "incount" in self.parameters else "count"
            self.before.append(f"const Requests requests(call, array_of_requests, {count});")
            if which == "any":
                self.before.append("OwnStatus own(status);")
                index = "index" if "index" in self.parameters else "indx"
                flag = "*flag != 0 && " if test else ""
                self.after.append(f"if ({flag}*{index} != MPI_UNDEFINED) requests.complete(*{index}, *status);")
            else:
                self.before.append(f"OwnStatuses own(array_of_statuses, {count});")
                if which == "all":
                    self.after.append(("if (*flag != 0) " if test else "") +
                                      f"for (int i = 0; i < {count}; ++i) requests.complete(i, array_of_statuses[i]);")
                else:
                    self.after.append("for (int i = 0; *outcount != MPI_UNDEFINED && i < *outcount; ++i) "
                                      "requests.complete(array_of_indices[i], array_of_statuses[i]);")
        if test:
            found = {"some": "*outcount != 0"}.get(which, "*flag != 0")
            self.after.append(f"call.tested({found});")

    def text(self) -> str:
        call = f"{self.function.profiling_name}({', '.join(self.arguments.values())})"
        lines = [self.function.declarator(self.function.name) + " {",
                 f"    if (!is_on()) return {call};",
                 f"    Call call(Function::{self.function.name}, __builtin_return_address(0));",
                 *(f"    {line}" for line in self.before),
                 f"    const int error = {call};",
                 "    if (error == MPI_SUCCESS) {" if self.after else "",
                 *(f"        {line}" for line in self.after),
                 "    }" if self.after else "",
                 "    return call.end(error);", "}"]
        return "\n".join(line for line in lines if line) + "\n"


def header(functions: list[facts.Function]) -> str:
    names = "".join(f"    {f.name},\n" for f in functions)
    rows = "".join(f'    {{"{f.name}", Waits::{group(f)}, "{f.chapter}"}},\n' for f in functions)
    return f"""\
// Generated by trace/generate.py.
#pragma once
#include <array>
#include <cstdint>

namespace heddle::trace {{

/// Functions that are traced.
enum class Function : std::uint16_t {{
{names}}};

/// For whom processes wait in a call.
enum class Waits : std::uint8_t {{
    other,
    send,        ///< the receiver
    receive,     ///< the sender
    completion,  ///< those of the requests
    all,         ///< all processes of the object
    from_root,   ///< its root
    to_root,     ///< the root for all others
    scan,        ///< lower ranks
    window,
    file,
}};

struct FunctionInfo {{
    const char* name;
    Waits waits;
    const char* chapter;
}};

/// By Function.
inline constexpr std::array<FunctionInfo, {len(functions)}> function_table{{{{
{rows}}}}};

}}  // namespace heddle::trace
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    functions = [f for f in facts.functions() if is_traced(f)]
    (folder / "functions.hpp").write_text(header(functions))
    (folder / "wrappers.cpp").write_text(
        "// Generated by trace/generate.py.\n#include \"tracer.hpp\"\n\nusing namespace heddle::trace;\n\n"
        "extern \"C\" {\n\n" + "\n".join(Wrapper(f).body() for f in functions) + "\n}  // extern \"C\"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

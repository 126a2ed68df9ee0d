# SPDX-License-Identifier: BSD-3-Clause
"""The MPI functions as Fortran sees them, derived from the C prototypes of the ABI.

Each C parameter gets a kind, which says how Fortran declares it and how it is converted. Types decide for
most. C uses one type for several things (int for a flag, a count and an index), for which names decide. The tables
below hold these names: everything else in the generator follows from the kinds.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "abi"))
import facts  # noqa: E402

# Handles: C type -> (stem of the conversion functions, name in MPI_<name>_fromint).
HANDLES = {
    "MPI_Comm": "Comm",
    "MPI_Datatype": "Type",
    "MPI_Errhandler": "Errhandler",
    "MPI_File": "File",
    "MPI_Group": "Group",
    "MPI_Info": "Info",
    "MPI_Message": "Message",
    "MPI_Op": "Op",
    "MPI_Request": "Request",
    "MPI_Session": "Session",
    "MPI_Win": "Win",
}

INTEGER_KINDS = {"MPI_Aint": "MPI_ADDRESS_KIND", "MPI_Count": "MPI_COUNT_KIND", "MPI_Offset": "MPI_OFFSET_KIND"}

# Functions without Fortran bindings: those for tools, and conversions of handles, which are integers in Fortran.
NOT_IN_FORTRAN = ("MPI_T_", "_toint", "_fromint")

# Functions that were deprecated before mpi_f08 was made.
NOT_IN_F08 = {"MPI_Attr_delete", "MPI_Attr_get", "MPI_Attr_put", "MPI_Keyval_create", "MPI_Keyval_free"}

LOGICALS = {"flag", "reorder", "high", "commute", "weighted", "is_set"}
LOGICAL_ARRAYS = {"periods": "ndims", "remain_dims": None}
INOUT = {
    ("MPI_Info_get_string", "buflen"),
    ("MPI_Session_get_nth_pset", "pset_len"),
    ("MPI_Dims_create", "dims"),
}
RENAMED = {"indx": "index", "error": "err"}  # C avoids functions of its library, Fortran its own words
IN = {("MPI_Group_range_excl", "ranges"), ("MPI_Group_range_incl", "ranges")}  # without const in C
INOUT_NAMES = {"position"}
WEIGHTS = {"weights", "sourceweights", "destweights"}

# Functions that return a string, and the constant that bounds it.
STRING_BOUNDS = {
    "MPI_Comm_get_name": "MPI_MAX_OBJECT_NAME",
    "MPI_Type_get_name": "MPI_MAX_OBJECT_NAME",
    "MPI_Win_get_name": "MPI_MAX_OBJECT_NAME",
    "MPI_Error_string": "MPI_MAX_ERROR_STRING",
    "MPI_File_get_view": "MPI_MAX_DATAREP_STRING",
    "MPI_Get_library_version": "MPI_MAX_LIBRARY_VERSION_STRING",
    "MPI_Get_processor_name": "MPI_MAX_PROCESSOR_NAME",
    "MPI_Info_get_nthkey": "MPI_MAX_INFO_KEY",
    "MPI_Lookup_name": "MPI_MAX_PORT_NAME",
    "MPI_Open_port": "MPI_MAX_PORT_NAME",
}

# Functions that are written by hand in src/: their conversions have no pattern.
BY_HAND = {
    "MPI_Attr_get", "MPI_Attr_put", "MPI_Comm_get_attr", "MPI_Comm_set_attr", "MPI_Type_get_attr",
    "MPI_Type_set_attr", "MPI_Win_get_attr", "MPI_Win_set_attr",
    "MPI_Keyval_create", "MPI_Comm_create_keyval", "MPI_Type_create_keyval", "MPI_Win_create_keyval",
    "MPI_Comm_create_errhandler", "MPI_File_create_errhandler", "MPI_Session_create_errhandler",
    "MPI_Win_create_errhandler", "MPI_Op_create", "MPI_Op_create_c", "MPI_Grequest_start",
    "MPI_Register_datarep", "MPI_Register_datarep_c",
    "MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Pcontrol",
    "MPI_Info_get", "MPI_Info_get_string", "MPI_Session_get_nth_pset",
}

# Choice buffers that cross as an address only. No count and datatype beside them describe them.
PLAIN_BUFFERS = {"base", "location", "compare_addr", "logical_true", "logical_false"}
PLAIN_FUNCTIONS = {"Fetch_and_op", "Compare_and_swap"}
# Collectives in which a buffer is one message. In others it is several messages, or is combined: a section is copied.
ONE_MESSAGE = {"Bcast"}


@dataclass(frozen=True)
class Parameter:
    """A parameter. Its kind is one of:
    integer, logical, index, kind_integer (address, count, offset), handle, status, string, choice, procedure;
    attribute (an address-sized integer that C knows as void*), pointer (returned memory), detached;
    argument (argc and argv, which Fortran does not have). Arrays of the first ones end in "s".
    """

    name: str
    kind: str
    intent: str  # "in", "out", "inout"
    c_type: str
    base: str = ""  # handles: MPI_Comm; kind_integers: MPI_Aint; procedures: MPI_User_function
    length: str = ""  # converted arrays: the number of elements, as an expression of C parameters
    sentinels: tuple = ()
    section: str = ""  # choice: "plain", "message", "copied" or "refused"
    count: str = ""  # choice with section "message": names of its count and datatype
    datatype: str = ""


@dataclass(frozen=True)
class Function:
    name: str
    chapter: str
    returns: str
    parameters: tuple
    large: bool  # the _c form
    deprecated: bool

    @property
    def stem(self):
        return self.name.lower()

    @property
    def nonblocking(self):
        return is_nonblocking(self.name)

    @property
    def is_function(self):
        return self.returns != "int"

    @property
    def visible(self):
        """Returns the parameters that Fortran passes."""
        return [p for p in self.parameters if p.kind != "argument"]

    @property
    def has_choice(self):
        return any(p.kind == "choice" for p in self.parameters)

    @property
    def f08_symbol(self):
        """Returns the name of the specific procedure in mpi_f08 (MPI 5.0, 19.1.5)."""
        return self.name + ("_f08ts" if self.has_choice else "_f08")

    @property
    def in_f08(self):
        return self.name not in NOT_IN_F08

    @property
    def f08_is_another(self):
        """Returns True if mpi_f08 calls other code than mpif.h and mpi do."""
        return self.has_choice or any(p.kind == "detached" for p in self.parameters)


def is_nonblocking(name):
    stem = name.removeprefix("MPI_").removesuffix("_c")
    if stem.startswith("File_"):
        return "_i" in stem or stem.endswith(("_begin", "_end"))
    if stem.endswith("_init") and stem not in ("Session_init",):
        return True
    if stem in RMA or stem in {"Buffer_attach", "Comm_attach_buffer", "Session_attach_buffer", "Win_create",
                               "Win_attach", "Win_detach", "Get_address", "Free_mem", "F_sync_reg"}:
        return True
    return stem[0] == "I" and stem[1].islower() and not stem.startswith(("Info_", "Init", "Inter", "Is_"))


RMA = {
    "Put", "Get", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap",
    "Rput", "Rget", "Raccumulate", "Rget_accumulate",
}


def stem_of_collective(name):
    """Returns `Alltoallw` for MPI_Ineighbor_alltoallw_c."""
    stem = name.removeprefix("MPI_").removesuffix("_c").removesuffix("_init")
    if stem[0] == "I" and stem[1:2].islower() and stem not in ("Init",):
        stem = stem[1:].capitalize()
    return stem


COLLECTIVES = {
    "Allgather", "Allgatherv", "Allreduce", "Alltoall", "Alltoallv", "Alltoallw", "Bcast", "Exscan", "Gather",
    "Gatherv", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Scatter", "Scatterv",
    "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall", "Neighbor_alltoallv", "Neighbor_alltoallw",
    "Barrier",
}


def is_collective(name):
    return stem_of_collective(name) in COLLECTIVES


def choice(function, parameters, i):
    """Returns the parameter of a choice buffer: its sentinels, and how a section with gaps is passed on."""
    name, c_type = parameters[i].name, parameters[i].type
    stem = function.removeprefix("MPI_").removesuffix("_c")
    intent = "in" if c_type.startswith("const") else "inout"
    sentinels = ["bottom"]
    if is_collective(function) and stem_of_collective(function) != "Bcast":
        sentinels.append("in_place")
    if "attach" in stem and name == "buffer":
        sentinels = ["buffer_automatic"]
    section, count, datatype = "plain", "", ""
    following = [p.type for p in parameters[i + 1:i + 3]]
    if stem in ("Psend_init", "Precv_init"):
        section = "refused"
    elif name in PLAIN_BUFFERS or "attach" in stem or stem in PLAIN_FUNCTIONS or stem.endswith("_end"):
        section = "plain"
    elif is_collective(function) and stem_of_collective(function) not in ONE_MESSAGE:
        section = "copied"
    elif stem == "Reduce_local":
        section = "copied"
    elif following and following[0] in ("int", "MPI_Count") and following[1:] == ["MPI_Datatype"]:
        section = "message"
        count, datatype = parameters[i + 1].name, parameters[i + 2].name
    else:
        section = "copied"  # packed data, described by a size in bytes
    return Parameter(name, "choice", intent, c_type, sentinels=tuple(sentinels), section=section, count=count,
                     datatype=datatype)


def handle_array_length(function, name, names):
    for candidate in ("count", "incount", "max_datatypes"):
        if candidate in names:
            return f"*{candidate}"
    direction = "side_of_sources" if name == "recvtypes" else "side_of_destinations"
    neighbours = "neighbor" in function.lower()
    return f"neighbours(comm_in(*comm), {direction})" if neighbours else "peers(comm_in(*comm))"


def intent_of_pointer(function, name):
    if (function, name) in INOUT or name in INOUT_NAMES:
        return "inout"
    if function.endswith("free_keyval") or function == "MPI_Keyval_free":
        return "inout"
    return "out"


INOUT_HANDLES = {
    "MPI_Wait": "request", "MPI_Test": "request", "MPI_Start": "request",
    "MPI_Comm_disconnect": "comm", "MPI_File_close": "fh", "MPI_Session_finalize": "session",
    "MPI_Type_commit": "datatype",
}


def parameter(function, parameters, i):
    name, c_type = parameters[i].name, parameters[i].type
    names = [p.name for p in parameters]
    bare = c_type.removeprefix("const ").strip()
    element = bare.split("[")[0].removesuffix("*").strip()
    intent = "in" if c_type.startswith("const") or not bare.endswith(("*", "]")) else "out"

    def made(kind, intent=intent, **more):
        return Parameter(name, kind, intent, c_type, **more)

    if name in ("argc", "argv") and function in ("MPI_Init", "MPI_Init_thread", "MPI_Info_create_env"):
        return made("argument")
    if name == "extra_state":
        return made("attribute", "in")
    if name == "attribute_val":
        return made("attribute", "out" if "get" in function else "in")
    if name == "baseptr":
        return made("pointer", "out")
    if name == "buffer_addr":
        return made("detached", "out")
    if bare == "void *":
        return choice(function, parameters, i)
    if element.endswith(("_function", "_function_c", "_fn")):
        return made("procedure", "in", base=element)
    if element == "MPI_Status":
        array = name == "array_of_statuses"
        if function.startswith("MPI_Status_set"):
            intent = "inout"
        return made("statuss" if array else "status", intent, sentinels=() if intent != "out" else
                    ("statuses_ignore",) if array else ("status_ignore",))
    if element in HANDLES:
        if bare.endswith("]"):
            intent = "in" if c_type.startswith("const") else "out" if name == "array_of_datatypes" else "inout"
            return made("handles", intent, base=element, length=handle_array_length(function, name, names))
        if bare.endswith("*"):
            inout = (function.endswith("_free") or INOUT_HANDLES.get(function) == name
                     or (function.removesuffix("_c") in ("MPI_Mrecv", "MPI_Imrecv") and name == "message"))
            intent = "inout" if inout else "in" if function == "MPI_Cancel" else "out"
        return made("handle", intent, base=element)
    if element in INTEGER_KINDS:
        if bare.endswith("]"):
            return made("kind_integers", base=element)
        return made("kind_integer", intent_of_pointer(function, name) if bare.endswith("*") else "in", base=element)
    if bare in ("char *[]", "char **[]"):
        sentinels = {"argv": ("argv_null",), "array_of_argv": ("argvs_null",)}.get(name, ())
        return made("strings", "in", sentinels=sentinels)
    if element == "char":
        return made("string", "in" if c_type.startswith("const") else "out")
    if element != "int":
        raise ValueError(f"{function}: {c_type} {name}")
    if bare.endswith("]"):
        if name in LOGICAL_ARRAYS:
            given = next((name for name in ("ndims", "maxdims") if name in names), None)
            length = f"*{given}" if given else "dimensions(comm_in(*comm))"
            return made("logicals", length=length)
        if name == "array_of_indices":
            return made("indexs", length="*outcount")
        if name in WEIGHTS:
            return made("integers", sentinels=("unweighted", "weights_empty"))
        if name == "array_of_errcodes":
            return made("integers", sentinels=("errcodes_ignore",))
        if (function, name) in IN:
            return made("integers", "in")
        return made("integers", "inout" if (function, name) in INOUT else intent)
    if name in LOGICALS:
        return made("logical")
    if name == "index" and bare.endswith("*"):
        return made("index", "out")
    return made("integer", intent_of_pointer(function, name) if bare.endswith("*") else "in")


def function(fact):
    renamed = RENAMED | ({"dest": "source"} if fact.name == "MPI_Precv_init" else {})
    parameters = [facts.Parameter(p.type, renamed.get(p.name, p.name)) for p in fact.parameters if p.type != "..."]
    return Function(
        name=fact.name,
        chapter=fact.chapter,
        returns=fact.returns,
        parameters=tuple(parameter(fact.name, parameters, i) for i in range(len(parameters))),
        large=fact.name.endswith("_c"),
        deprecated=fact.deprecated is not None,
    )


def functions():
    """Returns all functions that have Fortran bindings, the large-count forms included, in the order of the ABI's data."""
    return [function(fact) for fact in facts.functions()
            if not any(part in fact.name for part in NOT_IN_FORTRAN)]


def type_signature(f):
    """Returns the things that overloading tells apart: types, kinds and ranks of the arguments."""
    def one(p):
        if p.kind in ("kind_integer", "kind_integers"):
            return (p.kind, 8)  # the three kinds of the ABI are one
        if p.kind == "procedure":
            return ("procedure",)
        if p.kind == "attribute":
            return ("kind_integer", 8)
        return (p.kind, p.base)
    return tuple(one(p) for p in f.visible)

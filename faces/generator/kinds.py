# SPDX-License-Identifier: BSD-3-Clause
"""The kind of each parameter of each MPI function. It decides how a face converts the parameter.

Types decide for handles and statuses. C uses int for many things, for which names decide. The tables below hold these
names: calls.py writes code from the kinds.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "abi"))
import facts  # noqa: E402

# Handles: C type -> stem of its conversions.
HANDLES = {
    "MPI_Comm": "comm", "MPI_Datatype": "type", "MPI_Errhandler": "errhandler", "MPI_File": "file",
    "MPI_Group": "group", "MPI_Info": "info", "MPI_Message": "message", "MPI_Op": "op", "MPI_Request": "request",
    "MPI_Session": "session", "MPI_Win": "win",
}

# Groups of constants with a value each: name -> names or prefixes in the standard ABI.
GROUPS = {
    "thread_level": ["MPI_THREAD_"],
    "comparison": ["MPI_IDENT", "MPI_CONGRUENT", "MPI_SIMILAR", "MPI_UNEQUAL"],
    "topology": ["MPI_CART", "MPI_GRAPH", "MPI_DIST_GRAPH"],
    "combiner": ["MPI_COMBINER_"],
    "order": ["MPI_ORDER_"],
    "distribution": ["MPI_DISTRIBUTE_NONE", "MPI_DISTRIBUTE_BLOCK", "MPI_DISTRIBUTE_CYCLIC"],
    "lock_type": ["MPI_LOCK_"],
    "split_type": ["MPI_COMM_TYPE_"],
    "typeclass": ["MPI_TYPECLASS_"],
    "flavor": ["MPI_WIN_FLAVOR_"],
    "memory_model": ["MPI_WIN_UNIFIED", "MPI_WIN_SEPARATE"],
    "whence": ["MPI_SEEK_"],
    "verbosity": ["MPI_T_VERBOSITY_"],
    "binding": ["MPI_T_BIND_"],
    "scope": ["MPI_T_SCOPE_"],
    "variable_class": ["MPI_T_PVAR_CLASS_"],
    "safety": ["MPI_T_CB_REQUIRE_"],
    "source_order": ["MPI_T_SOURCE_ORDERED", "MPI_T_SOURCE_UNORDERED"],
    "predefined_keyval": ["MPI_KEYVAL_INVALID", "MPI_TAG_UB", "MPI_IO", "MPI_HOST", "MPI_WTIME_IS_GLOBAL", "MPI_APPNUM",
                          "MPI_LASTUSEDCODE", "MPI_UNIVERSE_SIZE", "MPI_WIN_BASE", "MPI_WIN_DISP_UNIT",
                          "MPI_WIN_SIZE", "MPI_WIN_CREATE_FLAVOR", "MPI_WIN_MODEL"],
    "error_class": ["MPI_ERR_", "MPI_T_ERR_"],
    "special_rank": ["MPI_ANY_SOURCE", "MPI_PROC_NULL", "MPI_ROOT"],
}
# Constants that do not belong to their group: code handles them by name.
OUTSIDE_GROUPS = {"MPI_ERR_LASTCODE"}

# Constants that an ABI may lack, and the constant that stands for each there.
FALLBACKS = {
    "MPI_ERR_ERRHANDLER": "MPI_ERR_ARG", "MPI_ERR_ABI": "MPI_ERR_OTHER", "MPI_ERR_SESSION": "MPI_ERR_ARG",
    "MPI_ERR_PROC_ABORTED": "MPI_ERR_OTHER", "MPI_ERR_VALUE_TOO_LARGE": "MPI_ERR_OTHER",
    "MPI_T_ERR_NOT_SUPPORTED": "MPI_T_ERR_INVALID", "MPI_T_ERR_NOT_ACCESSIBLE": "MPI_T_ERR_INVALID",
}

# Extensions of other libraries that the standard ABI has under another name. The library's handle converts back to these
# names, for they are older.
SAME_AS = {"MPIX_C_FLOAT16": "MPI_REAL2", "MPIX_SHORT_FLOAT": "MPI_REAL2"}

# int by value -> conversion.
INTEGERS_IN = {
    "dest": "rank_in", "root": "rank_in", "source": "rank_in", "target_rank": "rank_in",
    "lock_type": "lock_type_in", "split_type": "split_type_in", "typeclass": "typeclass_in", "order": "order_in",
    "whence": "whence_in", "required": "thread_level_in", "var_class": "variable_class_in", "amode": "amode_in",
    "assert": "assert_in", "errorclass": "error_in", "error": "error_in",
    "comm_keyval": "keyval_in", "type_keyval": "keyval_in", "win_keyval": "keyval_in", "keyval": "keyval_in",
}
# int*, written by the library -> conversion.
INTEGERS_OUT = {
    "combiner": "combiner_out", "provided": "thread_level_out", "result": "comparison_out",
    "verbosity": "verbosity_out", "bind": "binding_out", "scope": "scope_out", "var_class": "variable_class_out",
    "errorclass": "error_out", "errorcode": "error_out", "error": "error_out", "amode": "amode_out",
    "rank_source": "rank_out", "rank_dest": "rank_out",
}
# Parameters whose name means something else.
EXCEPTIONS = {
    ("MPI_Topo_test", "status"): "topology_out",
    ("MPI_Status_get_source", "source"): "rank_out", ("MPI_Status_get_tag", "tag"): "tag_out",
    ("MPI_Status_set_source", "source"): "rank_in", ("MPI_Status_set_tag", "tag"): "tag_in",
    ("MPI_Abort", "errorcode"): None,
}
RECEIVES = ("Recv", "Irecv", "Probe", "Iprobe", "Mprobe", "Improbe", "Precv")
ERRORCODE_IN = "error_in"  # for `int errorcode`, except in MPI_Abort

INOUT_HANDLES = {
    "MPI_Wait": "request", "MPI_Test": "request", "MPI_Start": "request", "MPI_Cancel": "request",
    "MPI_Comm_disconnect": "comm", "MPI_File_close": "fh", "MPI_Session_finalize": "session",
    "MPI_Type_commit": "datatype", "MPI_Mrecv": "message", "MPI_Mrecv_c": "message", "MPI_Imrecv": "message",
    "MPI_Imrecv_c": "message",
}

# Functions that the library has for the arguments of other ABIs (src/api/direct_calls.h).
DIRECT = {"MPI_" + name for name in ("Send", "Recv", "Isend", "Irecv", "Wait", "Test", "Put", "Get")}
# Functions whose usual arguments are converted in place, in few instructions. Other arguments take the function long_X().
QUICK = {"MPI_" + name for name in (
    "Iprobe", "Start", "Rput", "Rget", "Accumulate",
    "Get_accumulate", "Fetch_and_op", "Compare_and_swap", "Win_flush", "Win_flush_local", "Win_flush_all",
    "Win_flush_local_all", "Win_unlock", "Win_unlock_all")}
# Functions of QUICK that return without waiting for another process.
WITHOUT_WAITING = {"MPI_" + name for name in (
    "Rput", "Rget", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap")}

# Functions that write into a string: the constant that bounds it.
STRING_BOUNDS = {
    "MPI_Comm_get_name": "MPI_MAX_OBJECT_NAME", "MPI_Type_get_name": "MPI_MAX_OBJECT_NAME",
    "MPI_Win_get_name": "MPI_MAX_OBJECT_NAME", "MPI_Error_string": "MPI_MAX_ERROR_STRING",
    "MPI_File_get_view": "MPI_MAX_DATAREP_STRING", "MPI_Get_library_version": "MPI_MAX_LIBRARY_VERSION_STRING",
    "MPI_Get_processor_name": "MPI_MAX_PROCESSOR_NAME", "MPI_Info_get_nthkey": "MPI_MAX_INFO_KEY",
    "MPI_Lookup_name": "MPI_MAX_PORT_NAME", "MPI_Open_port": "MPI_MAX_PORT_NAME",
}

# Functions that are written by hand in src/: their conversions have no pattern.
BY_HAND = {
    "MPI_Attr_get", "MPI_Attr_put", "MPI_Comm_get_attr", "MPI_Comm_set_attr", "MPI_Type_get_attr",
    "MPI_Type_set_attr", "MPI_Win_get_attr", "MPI_Win_set_attr",
    "MPI_Keyval_create", "MPI_Comm_create_keyval", "MPI_Type_create_keyval", "MPI_Win_create_keyval",
    "MPI_Comm_create_errhandler", "MPI_File_create_errhandler", "MPI_Session_create_errhandler",
    "MPI_Win_create_errhandler", "MPI_Op_create", "MPI_Op_create_c", "MPI_Grequest_start",
    "MPI_Register_datarep", "MPI_Register_datarep_c", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Pcontrol",
    "MPI_Type_get_contents", "MPI_Type_get_contents_c", "MPI_Get_version", "MPI_T_pvar_handle_alloc",
    "MPI_T_event_register_callback", "MPI_T_event_set_dropped_handler", "MPI_T_event_handle_free",
    "MPI_T_event_get_info", "MPI_Init", "MPI_Init_thread", "MPI_Session_init",
    "MPI_Error_class", "MPI_Error_string",
}
# Parts of the names of functions that only the standard ABI has.
ABSENT = ("_toint", "_fromint", "MPI_Abi_")

COLLECTIVES = ("Allgather", "Allreduce", "Alltoall", "Exscan", "Gather", "Reduce", "Scan", "Scatter", "Neighbor_")


def stem_of(name):
    """Returns `Alltoallw` for MPI_Ialltoallw_c and MPI_Alltoallw_init."""
    stem = name.removeprefix("MPI_").removesuffix("_c").removesuffix("_init")
    if stem[0] == "I" and stem[1:2].islower() and not stem.startswith(("Info", "Init", "Inter", "Is_")):
        stem = stem[1:].capitalize()
    return stem


def is_collective(name):
    return stem_of(name).startswith(COLLECTIVES) and name != "MPI_Reduce_local"


def array_length(function, name, names):
    """Returns the number of handles or statuses in an array, as C."""
    for candidate in ("count", "incount"):
        if candidate in names:
            return candidate
    side = "side_of_sources" if name == "recvtypes" else "side_of_destinations"
    if "neighbor" in function.lower():
        return f"neighbours(comm_in(comm), {side})"
    every = "peers(comm_in(comm))"
    return f"place_in(sendbuf) == MPI_IN_PLACE ? 0 : {every}" if name == "sendtypes" else every


def functions():
    return [f for f in facts.functions() if not any(part in f.name for part in ABSENT)]

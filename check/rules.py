# SPDX-License-Identifier: BSD-3-Clause
"""The actions of the checker before and after each function of MPI, as lines of C++ (src/checks.hpp)."""

LEFT_CHAPTERS = {"tool", "abi-fortran"}
# Functions that use nothing that is checked, and may be called at any time.
LEFT_OUT = {"Pcontrol", "Abort", "Get_address", "Test_cancelled", "Initialized", "Finalized", "Query_thread",
            "Is_thread_main", "Get_version", "Get_library_version", "Get_processor_name", "Error_class", "Error_string"}
# Functions that the checker calls itself.
NEEDED = {"Test_cancelled", "Error_class"}
LEFT_PREFIXES = ("Status_", "Get_count", "Get_elements", "Keyval_", "Attr_")
# Functions written by hand: src/completion.cpp, src/environment.cpp.
BY_HAND = {"Init", "Init_thread", "Finalize", "Session_init", "Session_finalize", "Wait", "Waitall", "Waitany", "Waitsome",
           "Test", "Testall", "Testany", "Testsome", "Start", "Startall", "Request_free", "Recv", "Mrecv",
           "Sendrecv", "Sendrecv_replace", "Probe", "Iprobe", "Mprobe", "Improbe"}
# Functions that any thread may call at any time: the thread level is not checked.
ANY_TIME_PREFIXES = ("Info_", "Errhandler_", "Session_get", "Session_set", "Session_call", "Comm_create_errhandler", "Win_create_errhandler",
                     "File_create_errhandler", "Session_create_errhandler", "Add_error", "Remove_error")

# Handles that must be freed: type of the parameter -> class of objects.
OBJECTS = {"MPI_Comm": "communicator", "MPI_Datatype": "datatype", "MPI_Group": "group", "MPI_Win": "window",
           "MPI_File": "file", "MPI_Op": "operation", "MPI_Info": "info", "MPI_Errhandler": "errhandler"}
# Functions whose result must not be freed, or is no new handle.
NOT_MADE = {"Comm_get_parent", "Type_match_size", "Type_create_f90_real", "Type_create_f90_complex",
            "Type_create_f90_integer", "Type_get_value_index", "File_get_view", "Type_commit", "Comm_get_errhandler",
            "Win_get_errhandler", "File_get_errhandler", "Session_get_errhandler"}
FREES = {"Comm_free", "Comm_disconnect", "Type_free", "Group_free", "Win_free", "File_close", "Op_free", "Info_free",
         "Errhandler_free"}

SENDS = {"Send", "Bsend", "Rsend", "Ssend"}

# Collectives by base name, without I and _init.
SAME = {"Allgather", "Alltoall", "Gather", "Scatter"}


# A request reported as complete goes on to exist, but its buffer belongs to the program again.
STATUS_OF_REQUESTS = {
    "Request_get_status": "if (error == MPI_SUCCESS && *flag != 0) check::said_complete(1, &request);",
    "Request_get_status_all": "if (error == MPI_SUCCESS && *flag != 0) check::said_complete(count, array_of_requests);",
    "Request_get_status_any": "if (error == MPI_SUCCESS && *flag != 0) check::said_complete(count, array_of_requests);",
    "Request_get_status_some": "if (error == MPI_SUCCESS && *outcount != 0) check::said_complete(incount, array_of_requests);",
}


def sends(f):
    return f.base in SENDS or f.base in {"I" + name.lower() for name in SENDS} or f.base in {n + "_init" for n in SENDS}


def stem_of(f):
    """Returns Bcast for Ibcast, Bcast_init and Bcast."""
    name = f.base.removesuffix("_init")
    if name.startswith("I") and f.has("request") and name not in ("Isend", "Irecv"):
        name = name[1].upper() + name[2:]
    return name


def collective(f):
    stem = stem_of(f)
    lines = []
    root = "root" if f.has("root") else "none"
    op = "op" if f.has("op") else "MPI_OP_NULL"
    lines.append(f"check::Agreement agreement(call, comm, {root}, {op});")
    if stem == "Barrier":
        pass
    elif stem == "Bcast":
        lines.append("agreement.data(buffer, count, datatype);")
    elif stem in ("Reduce", "Allreduce", "Scan", "Exscan"):
        lines.append("agreement.data(nullptr, count, datatype);")
    elif stem == "Reduce_scatter_block":
        lines.append("agreement.data(nullptr, recvcount, datatype);")
    elif stem == "Reduce_scatter":
        lines.append("agreement.vector(recvcounts, datatype);")
    elif stem in ("Allgather", "Alltoall"):
        lines += ["agreement.data(sendbuf, sendcount, sendtype);", "agreement.data(recvbuf, recvcount, recvtype);"]
    elif stem == "Gather":
        lines += ["agreement.data(sendbuf, sendcount, sendtype);",
                  "if (agreement.is_root()) agreement.data(recvbuf, recvcount, recvtype);"]
    elif stem == "Scatter":
        lines += ["if (agreement.is_root()) agreement.data(sendbuf, sendcount, sendtype);",
                  "agreement.data(recvbuf, recvcount, recvtype);"]
    elif stem == "Allgatherv":
        lines += ["agreement.vector(recvcounts, recvtype);", "agreement.own(sendbuf, sendcount, sendtype, recvcounts, recvtype);"]
    elif stem == "Gatherv":
        lines += ["agreement.to_root(sendbuf, sendcount, sendtype);", "agreement.from_all(recvcounts, recvtype);"]
    elif stem == "Scatterv":
        lines += ["agreement.from_root(recvbuf, recvcount, recvtype);", "agreement.to_all(sendcounts, sendtype);"]
    elif stem == "Alltoallv":
        lines.append("agreement.pairs(sendbuf, sendcounts, sendtype, recvcounts, recvtype);")
    elif stem == "Alltoallw":
        lines.append("agreement.pairs(sendbuf, sendcounts, sendtypes, recvcounts, recvtypes);")
    lines.append("agreement.meet();")
    return lines


def tracked_buffers(f):
    """Returns those buffers of a nonblocking collective whose length each process knows alone."""
    stem = stem_of(f)
    if stem == "Bcast":
        return ["const check::Buffer buffer_of(buffer, count, datatype);"], \
            "agreement.is_root() ? check::Uses{buffer_of, {}} : check::Uses{{}, buffer_of}"
    if stem in ("Reduce", "Allreduce", "Scan"):  # MPI_Exscan does not read all buffers
        writes = "agreement.is_root() || !agreement.has_root()" if f.has("root") else "true"
        return ["const check::Buffer given(sendbuf, count, datatype);",
                f"const check::Buffer taken = {writes} ? check::Buffer(recvbuf, count, datatype) : check::Buffer();"], \
            "check::Uses{given, taken}"
    if f.has("sendcount") and stem in ("Allgather", "Allgatherv", "Gather", "Gatherv"):
        return ["const check::Buffer given(sendbuf, sendcount, sendtype);"], "check::Uses{given, {}}"
    return [], "check::Uses{}"


def agrees(f):
    """Returns True if all processes of `comm` must call f in the same order as other collectives."""
    if f.chapter in ("collective", "neighborhood"):
        return f.has("comm")
    if f.base in ("Comm_dup", "Comm_dup_with_info", "Comm_idup", "Comm_idup_with_info", "Comm_split", "Comm_split_type",
                  "Comm_create", "Win_create", "Win_allocate", "Win_allocate_shared", "Win_create_dynamic", "File_open",
                  "Cart_create", "Graph_create", "Dist_graph_create", "Dist_graph_create_adjacent", "Cart_sub"):
        return True
    return False


def made_objects(f):
    for c_type, name in f.params:
        kind = c_type.removesuffix("*").strip()
        if c_type.endswith("*") and not c_type.startswith("const") and kind in OBJECTS and f.base not in NOT_MADE | FREES:
            yield kind, name


# Accesses to windows: their kind, and their operation. MPI_Compare_and_swap is atomic beside any other.
ACCESSES = {"Put": ("put", "MPI_OP_NULL"), "Get": ("get", "MPI_OP_NULL"), "Accumulate": ("accumulate", "op"),
            "Get_accumulate": ("accumulate", "op"), "Fetch_and_op": ("accumulate", "op"),
            "Compare_and_swap": ("accumulate", "MPI_NO_OP")}
ACCESSES |= {"R" + name.lower(): ACCESSES[name] for name in ("Put", "Get", "Accumulate", "Get_accumulate")}


def rma(f, before, after):
    b = f.base
    kind, op = ACCESSES.get(b, (None, None))
    if kind is not None:
        count, datatype = ("target_count", "target_datatype") if f.has("target_count") else ("1", "datatype")
        ends = ", true" if b in ("Rget", "Rget_accumulate") else ""
        before.append(f"check::before_access(call, check::Access::{kind}, target_rank, win);")
        after.append(f"if (error == MPI_SUCCESS) check::accessed(call, check::Access::{kind}, target_rank, target_disp, "
                     f"{count}, {datatype}, {op}, win{ends});")
    elif b == "Win_fence":
        before.append("check::before_fence(call, assert, win);")
        after.append("check::after_fence(assert, win, error);")
    elif b in ("Win_flush", "Win_flush_all", "Win_flush_local", "Win_flush_local_all"):
        after.append(f"check::flushed({'rank' if f.has('rank') else 'check::all_targets'}, win);")
    elif b in ("Win_lock", "Win_lock_all"):
        before.append(f"check::before_lock(call, {'rank' if f.has('rank') else 'check::all_targets'}, win);")
        after.append(f"check::locked({'rank' if f.has('rank') else 'check::all_targets'}, win, error);")
    elif b in ("Win_unlock", "Win_unlock_all"):
        before.append(f"check::before_unlock(call, {'rank' if f.has('rank') else 'check::all_targets'}, win);")
        after.append(f"check::unlocked({'rank' if f.has('rank') else 'check::all_targets'}, win, error);")
    elif b == "Win_start":
        after.append("check::started(win, error);")
    elif b == "Win_complete":
        after.append("check::completed(win, error);")
    elif b == "Win_free":
        before.append("check::before_win_free(call, check::value_of(win));")
    elif b.startswith("Win_") and "_create" in b + "_create" and any(n == "win" and t.endswith("*") for t, n in f.params):
        unit = "disp_unit" if f.has("disp_unit") else "1"
        size = "size" if f.has("size") else "0"
        after.append(f"if (error == MPI_SUCCESS) check::new_window(call, *win, comm, {size}, {unit}, info);")


# The arguments that name the ready partitions.
READY = {"Pready": "partition, partition", "Pready_range": "partition_low, partition_high",
         "Pready_list": "length, array_of_partitions"}


def requests(f, before, after):
    if f.base == "Cancel" or not any(name == "request" and c_type.endswith("*") for c_type, name in f.params):
        return
    uses = "check::Uses{}"
    kind = "other"
    if sends(f):
        kind = "send"
        uses = "check::Uses{check::Buffer(buf, count, datatype), {}}"
    elif f.base in ("Irecv", "Recv_init"):
        kind, uses = "receive", "check::Uses{{}, check::Buffer(buf, count, datatype)}"
    elif f.base == "Imrecv":
        kind, uses = "receive", "check::Uses{{}, check::Buffer(buf, count, datatype)}"
    elif f.base == "Isendrecv":
        kind = "receive"
        uses = "check::Uses{check::Buffer(sendbuf, sendcount, sendtype), check::Buffer(recvbuf, recvcount, recvtype)}"
    elif f.base == "Isendrecv_replace":
        kind, uses = "receive", "check::Uses{{}, check::Buffer(buf, count, datatype)}"
    elif f.base.startswith(("File_iread", "File_iwrite")):
        reads = "write" in f.base
        buffer = "check::Buffer(buf, count, datatype)"
        uses = f"check::Uses{{{buffer}, {{}}}}" if reads else f"check::Uses{{{{}}, {buffer}}}"
    elif f.base in ("Rput", "Raccumulate"):
        uses = "check::Uses{check::Buffer(origin_addr, origin_count, origin_datatype), {}}"
    elif f.base == "Rget":
        uses = "check::Uses{{}, check::Buffer(origin_addr, origin_count, origin_datatype)}"
    elif f.chapter in ("collective", "neighborhood") and agrees(f):
        declarations, uses = tracked_buffers(f)
        before += declarations
    persistent = "true" if f.base.endswith("_init") else "false"
    before.append(f"check::Tracked* const tracked = check::track(call, check::Kind::{kind}, {persistent}, {uses});")
    if sends(f):
        before.append("check::sending(*tracked, comm, dest, tag, datatype, count);")
    elif f.base in ("Irecv", "Recv_init"):
        before.append("check::receiving(call, *tracked, comm, source, tag);")
    elif f.base in ("Psend_init", "Precv_init"):
        verb = "sending" if f.base == "Psend_init" else "receiving"
        before.append(f"check::{verb}_partitions(*tracked, buf, partitions, count, datatype, dest, tag, comm);")
    elif f.base == "Imrecv":
        before.append("check::receiving_matched(*tracked, check::value_of(message));")
    elif f.base == "Isendrecv":
        before += ["check::sending(*tracked, comm, dest, sendtag, sendtype, sendcount);",
                   "check::receiving(call, *tracked, comm, source, recvtag);"]
    elif f.base == "Isendrecv_replace":
        before += ["check::sending(*tracked, comm, dest, sendtag, datatype, count);",
                   "check::receiving(call, *tracked, comm, source, recvtag);"]
    after.append("check::begun(tracked, request, error);")


def lines(f):
    before, after = [], []
    if agrees(f):
        before += collective(f)
        after.append("agreement.over(error);")
    if f.base == "Cancel":
        before.append("check::cancelling(check::value_of(request));")
    if f.base.startswith("Request_get_status"):
        after.append(STATUS_OF_REQUESTS[f.base])
    if f.base in SENDS:
        before.append("const check::Sent sent = check::send(call, buf, count, datatype, dest, tag, comm);")
        after.append("if (error != MPI_SUCCESS) check::unsend(sent);")
    requests(f, before, after)
    if f.base in READY:
        before.append(f"check::set_ready(request, {READY[f.base]}, true);")
        after.append(f"if (error != MPI_SUCCESS) check::set_ready(request, {READY[f.base]}, false);")
    if f.chapter == "rma":
        rma(f, before, after)
    for kind, name in made_objects(f):
        after.append(f"if (error == MPI_SUCCESS) check::made(call, check::Object::{OBJECTS[kind]}, *{name});")
        if kind == "MPI_Datatype":
            after.append(f"if (error == MPI_SUCCESS) check::know_type(*{name});")
        if kind == "MPI_Comm":
            parent = "comm" if f.has("comm") else "comm_old" if f.has("comm_old") else "MPI_COMM_NULL"
            if f.chapter == "dynamic":
                parent = "MPI_COMM_NULL"
            if f.base == "Intercomm_create":
                after.append(f"if (error == MPI_SUCCESS) check::new_intercommunicator(local_comm, *{name});")
                continue
            if f.base == "Intercomm_merge":
                parent = "intercomm"
            tag = "tag" if f.base == "Comm_create_group" else "check::in_order"
            after.append(f"if (error == MPI_SUCCESS) check::new_communicator({parent}, {tag}, *{name});")
    if f.base.startswith("Type_create_f90_"):
        after.append("if (error == MPI_SUCCESS) check::know_type(*newtype);")
    if f.base in FREES:
        (c_type, name), = f.params
        kind = c_type.removesuffix("*").strip()
        before.append(f"const {kind} freed = check::value_of({name});")
        if f.base in ("Comm_free", "Comm_disconnect"):
            before.append("check::forget_communicator(freed);")
        if f.base == "Type_free":
            before.append("check::forget_type(freed);")
        # A file is closed even if it cannot be written any more.
        after.append(f"if (error == MPI_SUCCESS || check::value_of({name}) != freed) check::gone(check::Object::{OBJECTS[kind]}, freed);")
    if f.base == "Comm_dup_with_info" or f.base == "Comm_set_info":
        comm = "*newcomm" if f.base == "Comm_dup_with_info" else "comm"
        after.append(f"if (error == MPI_SUCCESS) check::promised({comm}, info);")
    # The processes of comm_old agree on topologies.
    if any(name == "comm_old" for _, name in f.params):
        before = [line.replace("(call, comm,", "(call, comm_old,") for line in before]
    return before, after

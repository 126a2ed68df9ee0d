# SPDX-License-Identifier: BSD-3-Clause
"""symbols.py ABI NM FACES: a face exports every function of MPI twice, as MPI_X and PMPI_X, and its own predefined objects.
It exports nothing of the launchers and run-time layers of the library whose name it bears."""

import json
import re
import subprocess
import sys

import facts

NOT_HERE = ("_toint", "_fromint", "MPI_Abi_")
REMOVED = ["Address", "Errhandler_create", "Errhandler_get", "Errhandler_set", "Type_extent", "Type_hindexed",
           "Type_hvector", "Type_lb", "Type_struct", "Type_ub"]
FORTRAN = [f"{x}_{way}" for x in ("Comm", "Type", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request",
                                  "Session", "Win", "Status") for way in ("c2f", "f2c")]
ALLOWED = re.compile(r"P?MPI_|MPIX_|MPIR_Dup_fn$|MPIR_F08_MPI_|OMPI_C_MPI_|ompi_(mpi|request|message)_|ompi_op_set_cxx_callback$")


def main(abi, nm, faces):
    data = json.loads((facts.FOLDER / abi / "facts.json").read_text())
    listed = subprocess.run([nm, "-D", "--defined-only", f"{faces}/{data['library']}"], capture_output=True, text=True,
                            check=True).stdout
    exported = {line.split()[-1].split("@")[0] for line in listed.splitlines()}
    functions = [f.name for f in facts.functions() if not any(part in f.name for part in NOT_HERE)]
    functions += ["MPI_" + name for name in REMOVED + FORTRAN]
    wanted = {prefix + name for name in functions for prefix in ("", "P")} | set(data.get("objects", {}).values())
    problems = sorted(f"missing: {name}" for name in wanted - exported)
    problems += sorted(f"not of this ABI: {name}" for name in exported if not ALLOWED.match(name))
    print("\n".join(problems))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main(*sys.argv[1:])

# SPDX-License-Identifier: BSD-3-Clause
"""A program that includes mpi.h compiles without a warning in every dialect of C and C++.

    header_in_every_dialect.py CC CXX SCRATCH

It tries compilers other than those of the build if they are installed.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
cc, cxx, scratch = sys.argv[1], sys.argv[2], Path(sys.argv[3])

PROGRAM = """
#include <mpi.h>
#include <mpi.h>

static int keep(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm; (void)keyval; (void)value; (void)extra;
    return MPI_SUCCESS;
}

int main(int argc, char** argv) {
    MPI_Comm comm = MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD));
    MPI_Comm_delete_attr_function* function = keep;
    MPI_Fint fortran = MPI_Type_c2f(MPI_INT);
    MPI_Status status;
    int keyval, value = 0, mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, function, &keyval, 0);
    MPI_Recv(&value, 1, MPI_Type_f2c(fortran), MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    if (status.MPI_SOURCE == MPI_PROC_NULL || status.MPI_TAG == MPI_UNDEFINED) return mode;
    PMPI_Pcontrol(1, "more");
    return MPI_Finalize() == MPI_SUCCESS ? 0 : 1;
}
"""

DIALECTS = {
    "c": ["c89", "c99", "c11", "c17", "gnu17"],
    "cpp": ["c++98", "c++11", "c++17", "c++20", "gnu++20"],
}

scratch.mkdir(parents=True, exist_ok=True)
compilers = {"c": {cc, "gcc", "clang", "clang-19"}, "cpp": {cxx, "g++", "clang++", "clang++-19"}}
problems = []
for suffix, dialects in DIALECTS.items():
    source = scratch / f"program.{suffix}"
    source.write_text(PROGRAM)
    for compiler in sorted({shutil.which(c) for c in compilers[suffix]} - {None}):
        for dialect in dialects:
            command = [compiler, f"-std={dialect}", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                       "-fsyntax-only", f"-I{ROOT}/include", str(source)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            print(compiler, dialect, "ok" if run.returncode == 0 else "FAILED")
            if run.returncode != 0:
                problems.append(run.stderr)

# Deprecated functions warn when asked to, and only then.
source = scratch / "deprecated.c"
source.write_text("#include <mpi.h>\nint main(void) { return MPI_Attr_delete(MPI_COMM_SELF, 0); }\n")
for option, fails in (([], False), (["-DHEDDLE_WARN_DEPRECATED"], True)):
    run = subprocess.run([cc, "-Wall", "-Werror", "-fsyntax-only", f"-I{ROOT}/include", *option,
                          str(source)], capture_output=True, text=True, check=False)
    if (run.returncode != 0) != fails:
        problems.append(f"deprecated function with {option}: {run.returncode}\n{run.stderr}")

print("\n".join(problems))
sys.exit(1 if problems else 0)

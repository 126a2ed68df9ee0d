# SPDX-License-Identifier: BSD-3-Clause
"""cxx.py INSTALLATION FOLDER NM: programs in C++ that Open MPI's mpicxx has compiled and linked run on the faces.

They are linked with libmpi_cxx.so.40, even if they call only functions of C. The exit code is 77 if that mpicxx is not
installed, or has no C++ bindings.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

INSTALLATION, FOLDER, NM = sys.argv[1:4]
FACES = pathlib.Path(INSTALLATION, "lib/heddle/faces")
SKIPPED = 77

OF_C = """
#include <mpi.h>
#include <cstdio>
#include <vector>
int main(int argc, char** argv) {
    int size = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<int> all(size, 1);
    MPI_Allreduce(MPI_IN_PLACE, all.data(), size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    std::printf("%d %d\\n", size, all[0]);
    MPI_Finalize();
}
"""
# Functions of classes that lie in the library. The program uses no object of MPI's own.
OF_CLASSES = """
#include <mpi.h>
#include <cstdio>
int main(int argc, char** argv) {
    MPI::Init(argc, argv);
    int memory = 0;
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI::Datatype type(pair);
    type.Commit();
    const int size = type.Get_size();
    type.Free();
    MPI_Win handle;
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &handle);
    MPI::Win win(handle);
    win.Fence(0);
    win.Free();
    MPI::Intracomm none;
    std::printf("%d %d%d%d\\n", size, MPI_Datatype(type) == MPI_DATATYPE_NULL, MPI_Win(win) == MPI_WIN_NULL,
                MPI_Comm(none) == MPI_COMM_NULL);
    MPI::Finalize();
}
"""
REFUSED = """
#include <mpi.h>
static void operation(const void*, void*, int, const MPI::Datatype&) {}
static void handler(MPI::Comm&, int*, ...) {}
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc > 1) MPI::Comm::Create_errhandler(handler);
    MPI::Op op;
    op.Init(operation, true);
    MPI_Finalize();
}
"""
OF_OBJECTS = """
#include <mpi.h>
#include <cstdio>
int main(int argc, char** argv) {
    MPI::Init(argc, argv);
    const MPI::Intracomm& world = MPI::COMM_WORLD;
    const int rank = world.Get_rank(), size = world.Get_size(), right = (rank + 1) % size;
    int left = -1, sum = -1, top = rank;
    MPI::Status status;
    MPI::Request request = world.Isend(&rank, 1, MPI::INT, right, 5);
    world.Recv(&left, 1, MPI::INT, MPI::ANY_SOURCE, 5, status);
    request.Wait();
    MPI::Intracomm copy = world.Dup();
    copy.Allreduce(&rank, &sum, 1, MPI::INT, MPI::SUM);
    copy.Allreduce(MPI::IN_PLACE, &top, 1, MPI::INT, MPI::MAX);
    MPI::Cartcomm line = copy.Create_cart(1, &size, (const bool[]){true}, false);
    const bool grid = line.Get_topology() == MPI::CART && line.Clone().Get_size() == size;
    line.Free();
    copy.Free();
    MPI::Datatype pair = MPI::DOUBLE.Create_contiguous(2);
    const bool right_size = pair.Get_size() == 16 && MPI::CHAR.Get_size() == 1 && MPI::COMM_SELF.Get_size() == 1;
    pair.Free();
    std::printf("%d%d%d%d%d%d%d\\n", left == (rank + size - 1) % size && status.Get_source() == left, sum, top, grid,
                right_size, MPI_Comm(MPI::COMM_NULL) == MPI_COMM_NULL, MPI::Group(MPI::GROUP_EMPTY).Get_size() == 0);
    MPI::Finalize();
}
"""
# For a library that the program loads after libmpi_cxx.so.40, and for itself alone: its tables are not found.
HIDDEN = """
#include <mpi.h>
static MPI::Comm& world = MPI::COMM_WORLD;
extern "C" int work() { return world.Clone().Get_size(); }
"""
LOADS = """
#include <dlfcn.h>
int main(int, char** argv) {
    dlopen("libmpi_cxx.so.40", RTLD_NOW | RTLD_LOCAL);
    return ((int (*)())dlsym(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), "work"))();
}
"""


def compiler():
    found = os.environ.get("HEDDLE_OPENMPI_CXX") or shutil.which("mpicxx.openmpi")
    if not found:
        print("not checked: mpicxx of Open MPI is not installed")
        sys.exit(SKIPPED)
    return found


COMPILER = compiler()


def run(*command):
    clean = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=clean, timeout=120)
    return result.returncode, result.stdout, result.stderr


def mpiexec(ranks, *command):
    return run(f"{INSTALLATION}/bin/mpiexec", "-n", ranks, *command)


class Cxx(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(FOLDER, exist_ok=True)

    def compiled(self, name, text, *options):
        source, binary = pathlib.Path(FOLDER, name + ".cpp"), pathlib.Path(FOLDER, name)
        source.write_text(text)
        subprocess.run([COMPILER, "-w", "-o", binary, source, *options], check=True)
        listed = subprocess.run([NM, "-D", "-u", binary], capture_output=True, text=True, check=True).stdout
        self.assertIn("_ZN3MPI4CommC", listed, "this program does not need the library")
        return binary

    def test_programs_that_call_functions_of_c(self):
        for options in (["-O0"], ["-O2", "-no-pie", "-fno-pie"]):
            program = self.compiled("of_c", OF_C, *options)
            self.assertEqual(mpiexec(2, program), (0, "2 2\n" * 2, ""))
            code, said, _ = run(f"{INSTALLATION}/bin/heddle", "check", program)
            self.assertEqual(code, 0, said)
            self.assertIn(f"{FACES}/libmpi_cxx.so.40", said)
            self.assertEqual(mpiexec(2, f"{INSTALLATION}/bin/heddle", "run", program), (0, "2 2\n" * 2, ""))

    def test_functions_of_classes(self):
        self.assertEqual(mpiexec(2, self.compiled("of_classes", OF_CLASSES, "-O0")), (0, "8 111\n" * 2, ""))

    def test_what_is_refused_is_named(self):
        program = self.compiled("refused", REFUSED)
        for words, name in (([], "MPI::Op::Init"), (["x"], "MPI::Comm::Create_errhandler")):
            code, _, said = mpiexec(1, program, *words)
            self.assertNotEqual(code, 0)
            self.assertRegex(said, rf"Heddle: libmpi\S* {name}: Heddle does not have this function")

    def test_objects_of_mpi(self):
        for options in (["-O0"], ["-O2", "-no-pie", "-fno-pie"]):
            program = self.compiled("of_objects", OF_OBJECTS, *options)
            self.assertEqual(mpiexec(3, program), (0, "1321111\n" * 3, ""))

    def test_virtual_functions_without_a_table_are_refused(self):
        library = self.compiled("hidden.so", HIDDEN, "-shared", "-fPIC")
        source, program = pathlib.Path(FOLDER, "loads.cpp"), pathlib.Path(FOLDER, "loads")
        source.write_text(LOADS)
        subprocess.run(["c++", "-w", "-o", program, source, "-ldl"], check=True)
        code, _, said = mpiexec(1, program, library)
        self.assertNotEqual(code, 0)
        self.assertRegex(said, "Heddle: libmpi_cxx.so.40: a virtual function")

    def test_members_of_the_namespace_are_all_there(self):
        theirs = pathlib.Path("/usr/lib/x86_64-linux-gnu/libmpi_cxx.so.40")
        if not theirs.exists():
            self.skipTest("the other library is not installed")

        def members(library):
            listed = subprocess.run([NM, "-D", "--defined-only", library], capture_output=True, text=True, check=True)
            found = [line.split() for line in listed.stdout.splitlines()]
            return {name for _, kind, name in found if kind in "TBDR" and name.startswith("_ZN3MPI")}

        wanted = {name for name in members(theirs) if "version_string" not in name}
        self.assertGreater(len(wanted), 90)
        self.assertEqual(sorted(wanted - members(FACES / "libmpi_cxx.so.40")), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

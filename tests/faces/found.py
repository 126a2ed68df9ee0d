# SPDX-License-Identifier: BSD-3-Clause
"""found.py INSTALLATION COMPILER HEADERS FOLDER: programs find the face that they need, or an error says why not.

The other MPI is a library with a name that programs ask for, and with nothing of Heddle.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

INSTALLATION, COMPILER, HEADERS, FOLDER = sys.argv[1:5]
FACES = f"{INSTALLATION}/lib/heddle/faces"
MPIEXEC, HEDDLE = f"{INSTALLATION}/bin/mpiexec", f"{INSTALLATION}/bin/heddle"

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    int size = 0, length;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_library_version(version, &length);
    printf("%d %.6s\\n", size, version);
    MPI_Finalize();
    return 0;
}
"""
OTHER = """
#include <string.h>
#include <unistd.h>
int MPI_Init(int* argc, char*** argv) { (void)argc, (void)argv; char c; return (int)read(0, &c, 1); } /* until told */
int MPI_Comm_size(void* comm, int* size) { (void)comm; *size = 1; return 0; }
int MPI_Get_library_version(char* version, int* length) { strcpy(version, "Other "); *length = 6; return 0; }
int MPI_Finalize(void) { return 0; }
char ompi_mpi_comm_world[512];
"""


def compiled(name, text, *options):
    source, result = pathlib.Path(FOLDER, name + ".c"), pathlib.Path(FOLDER, name)
    source.write_text(text)
    subprocess.run([COMPILER, "-w", "-o", result, source, *options], check=True)
    return str(result)


def run(*command, **options):
    clean = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=clean, timeout=120, **options)
    return result.returncode, result.stdout, result.stderr


class Found(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(f"{FOLDER}/other", exist_ok=True)
        cls.mpich = compiled("for_mpich", PROGRAM, f"-I{HEADERS}/mpich/include", f"{FACES}/libmpi.so.12")
        cls.openmpi = compiled("for_openmpi", PROGRAM, f"-I{HEADERS}/openmpi/include", f"{FACES}/libmpi.so.40")
        compiled("other/libmpi.so.40", OTHER, "-shared", "-fPIC", "-Wl,-soname,libmpi.so.40")
        cls.bound = compiled("bound", PROGRAM, f"-I{HEADERS}/openmpi/include", f"{FOLDER}/other/libmpi.so.40",
                             f"-Wl,--disable-new-dtags,-rpath,{FOLDER}/other")

    def test_ranks_find_the_face(self):
        for program in (self.mpich, self.openmpi):
            self.assertEqual(run(MPIEXEC, "-n", 2, program), (0, "2 Heddle\n" * 2, ""))

    def test_a_path_in_the_program_is_named(self):
        with subprocess.Popen([MPIEXEC, "-n", "1", self.bound], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as job:
            said = job.stderr.readline()
            self.assertEqual(job.communicate("")[0], "1 Other \n")
        self.assertRegex(said, "has loaded .*/other/libmpi.so.40, the library of another MPI.*`heddle run`")

    def test_run_puts_the_face_first(self):
        self.assertEqual(run(MPIEXEC, "-n", 2, HEDDLE, "run", self.bound), (0, "2 Heddle\n" * 2, ""))

    def test_other_launchers_start_ranks_on_the_face(self):
        """Programs find the library by accident, under the launchers of the MPIs that they were built for."""
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        launchers = [("mpirun.openmpi", [*root, "--oversubscribe"], self.openmpi), ("mpiexec.mpich", [], self.mpich),
                     ("mpirun.openmpi", [*root, "--oversubscribe"], self.mpich), ("mpiexec.mpich", [], self.openmpi)]
        found = [launcher for launcher in launchers if shutil.which(launcher[0])]
        if not found:
            self.skipTest("neither Open MPI nor MPICH is installed")
        for launcher, options, program in found:
            with self.subTest(launcher=launcher, program=program):
                job = subprocess.run([launcher, *options, "-n", "2", program], capture_output=True, text=True, timeout=120,
                                     env=dict(os.environ, LD_LIBRARY_PATH=FACES))
                self.assertEqual((job.returncode, job.stdout), (0, "2 Heddle\n" * 2), job.stderr)

    def test_two_libraries_are_refused(self):
        both = compiled("both", PROGRAM, f"-I{HEADERS}/mpich/include", "-Wl,--no-as-needed", f"{FACES}/libmpi.so.12",
                        f"{FACES}/libmpi.so.40")
        code, said, error = run(MPIEXEC, "-n", 1, both)
        self.assertEqual((code, said), (1, ""))
        self.assertRegex(error, "this process has two MPI libraries: .*libmpi.so.12 and .*libmpi.so.40")

    def test_check_names_the_face(self):
        code, said, _ = run(HEDDLE, "check", self.openmpi)
        self.assertEqual(code, 0)
        self.assertIn(f"{FACES}/libmpi.so.40", said)
        self.assertIn("`heddle run`", run(HEDDLE, "check", self.bound)[1])

    def test_check_names_what_is_missing(self):
        later = compiled("later.so", "int MPI_No_such(void) { return 0; }", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.12")
        lacking = compiled("lacking", "int MPI_No_such(void); int main(void) { return MPI_No_such(); }", later)
        code, said, _ = run(HEDDLE, "check", lacking)
        self.assertEqual(code, 1)
        self.assertIn("lacks MPI_No_such", said)

    def test_check_of_fortran_names_the_face_and_what_is_missing(self):
        if not os.path.exists(f"{FACES}/libmpifort.so.12"):
            self.skipTest("Heddle has no Fortran here")
        later = compiled("later_fortran.so", "void mpi_init_(int* e) { (void)e; } void mpi_no_such_(void) {}", "-shared",
                         "-fPIC", "-Wl,-soname,libmpifort.so.12")
        calls = "void mpi_init_(int*); int main(void) { int e; mpi_init_(&e); return 0; }"
        served = compiled("fortran_served", calls, later)
        code, said, _ = run(HEDDLE, "check", served)
        self.assertEqual(code, 0)
        self.assertIn(f"{FACES}/libmpifort.so.12", said)
        lacking = compiled("fortran_lacking", "void mpi_no_such_(void);" + calls.replace("return 0", "mpi_no_such_(); return 0"), later)
        code, said, _ = run(HEDDLE, "check", lacking)
        self.assertEqual(code, 1)
        self.assertIn("lacks mpi_no_such_", said)
        self.assertNotIn("lacks mpi_init_", said)

    def test_check_of_fortran_without_a_library(self):
        unnamed = compiled("fortran_unnamed.so", "void mpi_init_(int*); int MPI_Finalize(void);"
                           "int work(void) { int e; mpi_init_(&e); return MPI_Finalize(); }",
                           f"{FACES}/libmpi.so.12", "-shared", "-fPIC")
        code, said, _ = run(HEDDLE, "check", unnamed)
        self.assertEqual(code, 1)
        self.assertRegex(said, "names no library for MPI's procedures for Fortran, and needs of it:\n +mpi_init_\n")

    def test_info_lists_the_faces(self):
        listed = run(HEDDLE, "info")[1]
        for name in os.listdir(FACES):
            self.assertRegex(listed, rf"faces .*\b{name}\b")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

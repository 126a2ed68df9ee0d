# SPDX-License-Identifier: BSD-3-Clause
"""fortran.py ABI INSTALLATION SOURCES FOLDER NM: Fortran programs that the other library's mpifort compiled run on the face.

Our libraries export all that its Fortran libraries export, except OTHERS. The exit code is 77 if that mpifort is not
installed.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ABI, INSTALLATION, SOURCES, FOLDER, NM = sys.argv[1:6]
FACES = pathlib.Path(INSTALLATION, "lib/heddle/faces")
SKIPPED = 77
LIBRARIES = {"mpich": ["libmpichfort.so.12"],
             "openmpi": ["libmpi_mpifh.so.40", "libmpi_usempif08.so.40", "libmpi_usempi_ignore_tkr.so.40"]}[ABI]
# mpif.h in fixed form, the module mpi, mpi_f08; and those of our own tests that this version of MPI can compile.
PROGRAMS = [["fortran/old_style.f"], ["faces/fortran/bindings_mpi.f90"], ["faces/fortran/bindings_f08.F90"]]
if ABI == "mpich":  # its mpi_f08 takes sections with gaps, and large counts
    PROGRAMS += [["fortran/check.f90", f"fortran/{name}.f90"] for name in ("sections", "files", "windows")]
# Extensions, symbols of the layers below the library, names for other compilers, and types with methods (CLASS).
OTHERS = re.compile(r"p?mpir?xr?_|P?MPIX|p?ompix?_(?!f08_)|mpiext_|MPIR_|mpirinit|P?MPI_\w+_f(08)?$|MPI_F_A|MPI_F_E|"
                    r"P?MPI_Status_|.*_MOD___|__mpi_c_interface|__mpi_f08_types_MOD_mpi_\w+_(c2f|f2c)$|"
                    r"(?i:p?mpi_(\w+_)?fn(_null)?_*)$|p?mpir?_delete_error_\w+_f08_$|pmpir_f_sync_reg_f08ts_$|_init|_fini")


def compiler():
    found = os.environ.get(f"HEDDLE_{ABI.upper()}_FC") or shutil.which(f"mpifort.{ABI}")
    if not found:
        print(f"not checked: mpifort of {ABI} is not installed")
        sys.exit(SKIPPED)
    return found


COMPILER = compiler()


def exported(library):
    listed = subprocess.run([NM, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in listed.splitlines()}


class Fortran(unittest.TestCase):
    def compiled(self, sources):
        binary = pathlib.Path(FOLDER, pathlib.Path(sources[-1]).stem)
        subprocess.run([COMPILER, "-w", f"-D{ABI.upper()}", f"-J{FOLDER}", "-o", binary,
                        *(pathlib.Path(SOURCES, source) for source in sources)], check=True)
        return binary

    def test_programs(self):
        os.makedirs(FOLDER, exist_ok=True)
        clean = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}
        for sources in PROGRAMS:
            binary = self.compiled(sources)
            for ranks in (1, 2, 3):
                with self.subTest(program=binary.name, ranks=ranks):
                    job = subprocess.run([f"{INSTALLATION}/bin/mpiexec", "-n", str(ranks), binary], env=clean,
                                         capture_output=True, text=True, timeout=120)
                    if job.returncode != SKIPPED:
                        self.assertEqual(job.returncode, 0, job.stdout + job.stderr)

    def test_symbols(self):
        ours = set().union(*(exported(FACES / name) for name in [*LIBRARIES, "libmpi.so.12" if ABI == "mpich" else
                                                                 "libmpi.so.40"]))
        for name in LIBRARIES:
            theirs = [path for path in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64") if pathlib.Path(path, name).exists()]
            if theirs:
                wanted = {symbol for symbol in exported(f"{theirs[0]}/{name}") if not OTHERS.match(symbol)}
                self.assertGreater(len(wanted), 300)
                self.assertEqual(sorted(wanted - ours), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

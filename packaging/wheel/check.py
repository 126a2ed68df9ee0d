#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check.py WHEEL [AUDITWHEEL]: tries a wheel of heddle-mpi in an environment made anew, which contains nothing else of Heddle.
check.py TARBALL: tries an archive in a folder.

Then it moves the environment, and tries its contents again. AUDITWHEEL, that program's command, says which systems the wheel
fits.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RING = r"""
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int rank, size, token = 0;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &token, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d of %d: %d\n", rank, size, token);
    MPI_Finalize();
    return 0;
}
"""


def fail(text):
    sys.exit(f"check.py: {text}")


def run(*command, path=None, **options):
    """Runs a command with nothing of this environment but PATH and proxies. Returns its output."""
    environment = {"PATH": f"{path}:/usr/bin:/bin" if path else os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    environment.update({name: value for name, value in os.environ.items() if "proxy" in name.lower() or name.startswith("PIP_")
                        or name == "SSL_CERT_FILE"})
    done = subprocess.run([str(word) for word in command], env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600, **options)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def try_programs(environment, work):
    bin = environment / "bin"
    run(bin / "mpicc", work / "ring.c", "-o", work / "ring", path=bin)
    expected = "".join(f"{rank} of 4: 6\n" for rank in range(4))
    said = "".join(sorted(run("mpiexec", "--timeout", 60, "-n", 4, work / "ring", path=bin, cwd=work).splitlines(True)))
    if said != expected:
        fail(f"four ranks said:\n{said}")
    info = run(bin / "heddle", "info", path=bin)
    if str(environment / "lib/libmpi_abi.so.1") not in info or "nothing is left out" not in info:
        fail(f"heddle info said:\n{info}")
    if shutil.which("gfortran", path="/usr/bin:/bin"):
        run(bin / "heddle", "fortran", "--compiler", "gfortran", path=bin)
        run(bin / "mpifort", SOURCE / "examples/primes.f90", "-o", work / "primes", path=bin, cwd=work)
        if ", correct" not in run("mpiexec", "--timeout", 60, "-n", 3, work / "primes", path=bin):
            fail("primes.f90 is wrong")
    faces = environment / "lib/heddle/faces"
    if faces.exists() and list((environment / "lib").glob("python*/site-packages/mpi4py")) and (environment / "bin/python").exists():
        said = run("mpiexec", "--timeout", 60, "-n", 4, environment / "bin/python", "-m", "mpi4py.bench", "helloworld", path=bin)
        if said.count("Hello, World! I am process") != 4 or "of 4" not in said:
            fail(f"mpi4py said:\n{said}")


def has_mpi4py(environment):
    """Installs PyPI's wheel of mpi4py. Returns True if that worked."""
    command = [environment / "bin/python", "-m", "pip", "install", "--quiet", "--only-binary", "mpi4py", "mpi4py"]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300).returncode == 0


def inside(wheel, folder):
    """Fails if a file of the wheel names the folder in which it was built."""
    here = str(wheel.parent).encode()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if here in archive.read(name):
                fail(f"{name} holds {here.decode()}")


def audit(wheel, command):
    said = " ".join(subprocess.run([*command.split(), "show", str(wheel)], check=True, text=True, stdout=subprocess.PIPE).stdout.split())
    needs = re.search(r'consistent with the following platform tag: "manylinux_2_(\d+)_', said)
    promises = re.search(r"manylinux_2_(\d+)_", wheel.name)
    if not needs or int(needs[1]) > int(promises[1]):
        fail(f"auditwheel says: {said}")


def check_tarball(archive):
    with tempfile.TemporaryDirectory(prefix="heddle-tarball.") as folder:
        work = pathlib.Path(folder).resolve()
        (work / "ring.c").write_text(RING)
        with tarfile.open(archive) as packed:
            packed.extractall(work)
        where = next(work.glob("heddle-*"))
        here = str(archive.parent).encode()
        for path in where.rglob("*"):
            if path.is_file() and here in path.read_bytes():
                fail(f"{path.relative_to(where)} holds {here.decode()}")
        try_programs(where, work)
        moved = work / "another place"
        where.rename(moved)
        try_programs(moved, work)
        if not (moved / "share/doc/heddle/examples/hello.c").exists():
            fail("there are no examples")
        print(f"check.py: {archive.name} works ({archive.stat().st_size >> 10} KiB)")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    wheel = pathlib.Path(sys.argv[1]).resolve()
    if wheel.name.endswith(".tar.gz"):
        return check_tarball(wheel)
    inside(wheel, wheel.parent)
    if len(sys.argv) == 3:
        audit(wheel, sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="heddle-wheel.") as folder:
        work = pathlib.Path(folder).resolve()
        (work / "ring.c").write_text(RING)
        environment = work / "environment"
        run(sys.executable, "-m", "venv", environment)
        run(environment / "bin/python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel)
        if (environment / "lib/heddle/faces").exists() and not has_mpi4py(environment):
            print("check.py: mpi4py was not tried, since pip does not get it")
        try_programs(environment, work)
        moved = work / "another place"
        environment.rename(moved)
        (moved / "bin/python").unlink()  # environments of Python cannot be moved
        try_programs(moved, work)
        names = [name for name in (moved / "bin").iterdir() if name.name.startswith(("mpi", "heddle"))]
        print(f"check.py: {wheel.name} works ({wheel.stat().st_size >> 10} KiB; {len(names)} commands)")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""MPI libraries that take part: how each is built for, launched, and recognised.

A peer is NAME=PREFIX, with PREFIX/bin/mpicc, mpicxx and mpiexec. NAME begins with one of KINDS, which decides how
the peer is launched. ../peers.sh installs some.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
import re
import subprocess
from typing import Optional, Sequence

from . import hosts as several
from .machine import cores

SOURCES = pathlib.Path(__file__).resolve().parent.parent
KINDS = ("heddle", "mpich", "openmpi-ucx", "openmpi", "intel")
PINNED = str(SOURCES / "pinned.sh")

OPENMPI = ("--oversubscribe", "--allow-run-as-root")
OPENMPI_YIELD = ("--mca", "mpi_yield_when_idle", "1")
OPENMPI_TCP = ("--mca", "pml", "ob1", "--mca", "btl", "tcp,sm,self")
UCX = ("--mca", "pml", "ucx", "--mca", "opal_common_ucx_tls", "any",
       "--mca", "opal_common_ucx_devices", "any")


class Unusable(Exception):
    """A contestant that cannot take part; the text says why."""


@dataclasses.dataclass
class Contestant:
    name: str
    prefix: pathlib.Path
    programs: pathlib.Path  # where its programs are built
    launch: list[str]
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    unbound: tuple[str, ...] = ()  # options for ranks that bind themselves (../pinned.sh)
    hydra: Optional[pathlib.Path] = None  # starts ranks on several hosts, unless the library does

    def start(self, ranks: int, hosts: int = 1, pinned: bool = False) -> list[str]:
        """Returns the words before a program and its arguments. pinned: each rank has a core of its own.

        If several hosts have more ranks than there are cores, each host has one.
        """
        if hosts > 1:
            place = [*several.made(hosts), *self.launch_on_hosts(ranks, hosts), "-n", str(ranks)]
            return [*place, *([PINNED] if pinned else []), *(["--host"] if pinned and ranks > cores() else [])]
        return [*self.launch, *(self.unbound if pinned else ()), "-n", str(ranks), *([PINNED] if pinned else [])]

    def launch_on_hosts(self, ranks: int, hosts: int) -> list[str]:
        """Returns the launcher's words on the first of several hosts. `-n RANKS` follows."""
        if why := several.problem(self.programs):
            raise Unusable(why)
        if self.name.startswith("openmpi-ucx") or self.name.endswith("-debian"):
            raise Unusable(f"{self.name} is measured on one host only")
        if self.name.startswith("openmpi"):
            if not (self.prefix / "bin/prted").exists():
                raise Unusable(f"{self.name} has no PRRTE, by which ranks on several hosts are started")
            options = (*self.launch[1:], *OPENMPI_TCP)
            return several.by_prrte(self.prefix / "bin/mpiexec", options, ranks, hosts)
        if self.name.startswith("intel"):
            return [*several.by_hydra(self.prefix / "bin/mpiexec", ranks, hosts, "bootstrap"), *self.unbound]
        launcher = several.hydra_of([self.prefix]) if self.name.startswith("mpich") else self.hydra
        if launcher is None:
            raise Unusable(f"{self.name} on several hosts needs mpiexec.hydra, in PATH or of the peer mpich")
        return several.by_hydra(launcher, ranks, hosts)

    def environment_on(self, hosts: int) -> dict[str, str]:
        if hosts == 1 or not self.name.startswith("intel"):
            return self.environment
        return {**self.environment, "I_MPI_FABRICS": "shm:ofi", "FI_PROVIDER": "tcp",
                "FI_PROVIDER_PATH": str(self.prefix / "lib")}

    @property
    def is_heddle(self) -> bool:
        return self.name.startswith("heddle")

    def program(self, name: str) -> pathlib.Path:
        """Returns the program of that name. Builds it with the contestant's own wrappers if necessary."""
        path = self.programs / name
        build(source_of(name), path, self.prefix / "bin", self.environment)
        return path

    def identity(self) -> str:
        """Returns a text that changes when the library does, as far as that can be told."""
        if not self.is_heddle:
            return str(self.prefix)
        library = pathlib.Path(heddle_says(self.prefix, "info", r"^ +library +(/.*)$")[0])
        return f"{self.prefix} {hashlib.sha256(library.read_bytes()).hexdigest()[:16]}"

    def knobs(self) -> frozenset[str]:
        """Returns the HEDDLE_* variables that the library knows. The library ignores others."""
        if not self.is_heddle:
            return frozenset()
        return frozenset(heddle_says(self.prefix, "info --knobs", r"^(HEDDLE_\w+)"))


def heddle_says(prefix: pathlib.Path, arguments: str, pattern: str) -> list[str]:
    """Returns all matches of the pattern in the output of the command `heddle`."""
    done = subprocess.run([prefix / "bin/heddle", *arguments.split()], capture_output=True, text=True,
                          env=without_knobs(), check=False)
    found = re.findall(pattern, done.stdout, re.MULTILINE)
    if not found:
        raise Unusable(f"{prefix}/bin/heddle {arguments} says nothing of use: {done.stderr.strip()}")
    return found


def without_knobs() -> dict[str, str]:
    """Returns the environment without HEDDLE_* variables: a knob outside of the recipe has its default."""
    return {name: value for name, value in os.environ.items() if not name.startswith("HEDDLE_")}


def named(spec: str, waiting: str, scratch: pathlib.Path) -> Contestant:
    """Returns NAME=PREFIX as a contestant. waiting: whether peers are told to `yield` while they wait."""
    name, _, given = spec.partition("=")
    if not given or not re.fullmatch(r"[\w.-]+", name):
        raise Unusable(f"--peer wants NAME=PREFIX, not {spec}")
    if not name.startswith(KINDS):
        raise Unusable(f"unknown peer {name}: a name begins with one of {', '.join(KINDS)}")
    prefix = pathlib.Path(given).expanduser().resolve()
    for command in ("mpicc", "mpicxx", "mpiexec"):
        if not os.access(prefix / "bin" / command, os.X_OK):
            raise Unusable(f"{name}: there is no {prefix}/bin/{command}")
    yields = waiting == "yield"
    options: tuple[str, ...] = ()
    environment = {}
    if name.startswith("openmpi"):
        options = OPENMPI + (OPENMPI_YIELD if yields else ())
        options += UCX if name.startswith("openmpi-ucx") else ()
    elif name.startswith("intel"):
        environment = {"I_MPI_ROOT": str(prefix), "I_MPI_FABRICS": "shm",
                       "I_MPI_THREAD_YIELD": "2" if yields else "0"}
    unbound = ("--bind-to", "none") if not name.startswith("intel") else ("-genv", "I_MPI_PIN", "0")
    return Contestant(name, prefix, scratch / name, [str(prefix / "bin/mpiexec"), *options],
                      environment, unbound)


def lend_hydra(contestants: Sequence[Contestant]) -> None:
    """Gives all contestants the launcher of the peer that has one."""
    launcher = several.hydra_of([c.prefix for c in contestants if c.name.startswith("mpich")])
    for contestant in contestants:
        contestant.hydra = launcher


def source_of(program: str) -> pathlib.Path:
    for name in (f"{program}.cpp", f"{program}.c", f"{program}/{program}.f90"):
        if (source := SOURCES / name).is_file():
            return source
    raise Unusable(f"there is no source of {program} in {SOURCES}")


def build(source: pathlib.Path, program: pathlib.Path, wrappers: pathlib.Path,
          environment: dict[str, str]) -> None:
    """Compiles an MPI program, unless it is compiled already from the same sources by the same wrapper."""
    compiler = [str(wrappers / "mpicxx"), "-std=c++20"]
    if source.suffix == ".c":
        compiler = [str(wrappers / "mpicc")]
    if source.suffix == ".f90":
        compiler = [str(wrappers / "mpifort"), "-fopenmp", f"-J{program.parent}"]
        if not os.access(compiler[0], os.X_OK):
            raise Unusable(f"{source.name} needs {compiler[0]}")
    compile_cached(source, program, compiler, environment)


def native(source: str, scratch: pathlib.Path) -> pathlib.Path:
    """Builds a program without MPI and returns its path."""
    program = scratch / pathlib.Path(source).stem
    compiler = ["c++", "-std=c++20"] if source.endswith(".cpp") else ["cc"]
    compile_cached(SOURCES / source, program, compiler, {})
    return program


def compile_cached(source: pathlib.Path, program: pathlib.Path, compiler: list[str],
                   environment: dict[str, str]) -> None:
    command = [*compiler, "-O3", "-w", "-pthread", str(source), "-o", str(program)]
    recipe = f"{' '.join(command)}\n{fingerprint(source)}\n"
    stamp = program.with_suffix(".recipe")
    if program.is_file() and stamp.is_file() and stamp.read_text(encoding="utf-8") == recipe:
        return
    program.parent.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise Unusable(f"{' '.join(command)} failed:\n{done.stderr.strip()}")
    stamp.write_text(recipe, encoding="utf-8")


def fingerprint(source: pathlib.Path) -> str:
    """Returns a hash of a source and of the headers beside it and below."""
    total = hashlib.sha256()
    for file in (source, *sorted(source.parent.rglob("*.hpp"))):
        total.update(file.read_bytes())
    return total.hexdigest()[:16]

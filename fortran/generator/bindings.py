# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of bindings: those of the standard ABI, and those of each library that has a face (docs/faces.md)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Binding:
    name: str
    choice: str  # what mpi_f08 passes for a choice buffer: a C "descriptor", one of "gfortran", or an "address"
    short_way: bool  # handles may be constants, which need no conversion call
    large_suffix: str  # of the large-count procedures of mpi_f08; "" if there are none
    profiling_prefix: str  # of the procedures of mpi_f08
    left_out: tuple = ()  # functions whose names have one of these parts

    def has(self, f):
        return not any(part in f.name for part in self.left_out)

    def in_f08(self, f):
        return f.in_f08 and (not f.large or self.large_suffix != "")

    def f08_is_another(self, f):
        """Returns True if mpi_f08 calls other code than mpif.h and mpi do."""
        if self.choice == "address":
            return any(p.kind == "detached" for p in f.parameters)
        return f.f08_is_another

    def f08_name(self, f):
        """Returns the symbol of the specific procedure in mpi_f08 (the standard's: MPI 5.0, 19.1.5)."""
        if self.name == "standard":
            return f.f08_symbol.lower() + "_"
        ending = "_f08ts" if f.has_choice and self.choice != "address" else "_f08"
        return f.stem.removesuffix("_c" if f.large else "") + ending + (self.large_suffix if f.large else "") + "_"

    def f08_profiling_name(self, f):
        return self.profiling_prefix + self.f08_name(f).removeprefix("mpi")


STANDARD = Binding("standard", "descriptor", True, "_c", "pmpi")
OTHERS = [
    Binding("mpich", "gfortran", False, "_large", "pmpir", ("MPI_Abi_",)),
    Binding("openmpi", "address", False, "", "pmpi", ("MPI_Abi_",)),
]

# SPDX-License-Identifier: BSD-3-Clause
"""Inputs of the programs: small problems whose answers do not depend on the number of ranks or on time."""

# Atoms of argon that melt.
LENNARD_JONES = """\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 10
run 60
"""

WITH_MPI4PY = """\
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size
got = comm.sendrecv({"from": rank, "text": "x" * 70000}, right, 3, None, left, 3)
squares = comm.allgather(rank * rank)
largest = comm.allreduce(rank, MPI.MAX)
numbers = bytearray(8 * size)
comm.Allgather([rank.to_bytes(8, "little"), 8, MPI.BYTE], [numbers, 8, MPI.BYTE])
window = MPI.Win.Allocate(8, comm=comm)
window.Fence()
window.Put([rank.to_bytes(8, "little"), 8, MPI.BYTE], right)
window.Fence()
written = int.from_bytes(bytes(window.tomemory()[:8]), "little")
window.Free()
half = comm.Split(rank % 2, -rank)
lines = comm.gather((got["from"], len(got["text"]), squares[-1], largest, bytes(numbers)[-8], written, half.Get_rank()))
if rank == 0:
    for number, line in enumerate(lines):
        print(number, *line)
"""

WITH_BOOST = """\
#include <boost/mpi.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <functional>
#include <iostream>
#include <map>

namespace mpi = boost::mpi;

int main(int argc, char** argv) {
    mpi::environment environment(argc, argv);
    mpi::communicator world;
    const int rank = world.rank(), size = world.size(), right = (rank + 1) % size, left = (rank + size - 1) % size;
    std::map<std::string, std::vector<int>> mine{{"squares", {}}}, its;
    for (int i = 0; i < 1000; ++i) mine["squares"].push_back(rank * i);
    mpi::request sent = world.isend(right, 4, mine);
    const mpi::status status = world.recv(mpi::any_source, 4, its);
    sent.wait();
    const std::string longest =
        mpi::all_reduce(world, std::string(rank, 'x'),
                        [](const std::string& a, const std::string& b) { return a.size() > b.size() ? a : b; });
    std::vector<std::string> words;
    mpi::gather(world, "rank " + std::to_string(rank) + " got " + std::to_string(its["squares"][999]) + " from " +
                           std::to_string(status.source() - left),
                words, 0);
    const int sum = mpi::scan(world, rank, std::plus<int>());
    int last = sum;
    mpi::broadcast(world, last, size - 1);
    mpi::communicator half = world.split(rank % 2);
    const int halves = mpi::all_reduce(half, 1, std::plus<int>());
    if (rank != 0) return 0;
    std::cout << size << " " << longest.size() << " " << last << " " << halves << "\\n";
    for (int i = 0; i < size; ++i) std::cout << i << " " << words[i] << "\\n";
}
"""


def grid(ranks):
    """Returns the rows and columns of the most square grid of so many ranks."""
    rows = next(n for n in range(int(ranks**0.5), 0, -1) if ranks % n == 0)
    return rows, ranks // rows


def hpcc(ranks):
    """Returns an input in the program's own format: one number or several begin each line."""
    rows, columns = grid(ranks)
    return "\n".join([
        "Input of HPC Challenge", "small", "HPL.out  file", "8        where to", "1        problems", "512      sizes",
        "1        blocks", "32       sizes", "0        by rows", "1        grids", f"{rows}        rows",
        f"{columns}        columns", "16.0     threshold", "1        panel factorizations", "2        right", "1        stops",
        "4        columns", "1        panels", "2        each", "1        recursive", "1        crout", "1        broadcasts",
        "1        ring", "1        lookahead", "1        depth", "2        swap", "64       threshold", "0        transposed",
        "0        transposed", "1        equilibration", "8        alignment", "##### PTRANS", "0        more sizes", "512",
        "0        more blocks", "32", ""])


def silicon(pseudopotentials, folder):
    return f"""\
&control
  calculation = 'scf', prefix = 'si', pseudo_dir = '{pseudopotentials}', outdir = '{folder}/out'
/
&system
  ibrav = 2, celldm(1) = 10.20, nat = 2, ntyp = 1, ecutwfc = 14.0
/
&electrons
  conv_thr = 1.0d-9
/
ATOMIC_SPECIES
Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
Si 0.00 0.00 0.00
Si 0.25 0.25 0.25
K_POINTS automatic
2 2 2 1 1 1
"""


def openfoam(kind, name, body):
    return f"FoamFile {{ version 2.0; format ascii; class {kind}; object {name}; }}\n{body}\n"


def cavity(ranks):
    """Returns the files of a case: a fluid in a box whose lid moves."""
    rows, columns = grid(ranks)
    walls = "fixed { type wall; faces ((0 4 7 3) (2 6 5 1) (1 5 4 0)); }"
    return {
        "system/blockMeshDict": openfoam("dictionary", "blockMeshDict", f"""\
scale 0.1;
vertices ((0 0 0) (1 0 0) (1 1 0) (0 1 0) (0 0 0.1) (1 0 0.1) (1 1 0.1) (0 1 0.1));
blocks (hex (0 1 2 3 4 5 6 7) (40 40 1) simpleGrading (1 1 1));
edges ();
boundary (
lid {{ type wall; faces ((3 7 6 2)); }}
{walls}
sides {{ type empty; faces ((0 3 2 1) (4 5 6 7)); }}
);"""),
        "system/controlDict": openfoam("dictionary", "controlDict", """\
application icoFoam; startFrom startTime; startTime 0; stopAt endTime; endTime 0.05; deltaT 0.0025;
writeControl timeStep; writeInterval 20; purgeWrite 0; writeFormat ascii; writePrecision 8; writeCompression off;
timeFormat general; timePrecision 6; runTimeModifiable false;"""),
        "system/fvSchemes": openfoam("dictionary", "fvSchemes", """\
ddtSchemes { default Euler; }
gradSchemes { default Gauss linear; }
divSchemes { default none; div(phi,U) Gauss linear; }
laplacianSchemes { default Gauss linear orthogonal; }
interpolationSchemes { default linear; }
snGradSchemes { default orthogonal; }"""),
        "system/fvSolution": openfoam("dictionary", "fvSolution", """\
solvers {
p { solver PCG; preconditioner DIC; tolerance 1e-08; relTol 0; }
pFinal { solver PCG; preconditioner DIC; tolerance 1e-08; relTol 0; }
U { solver smoothSolver; smoother symGaussSeidel; tolerance 1e-07; relTol 0; }
}
PISO { nCorrectors 2; nNonOrthogonalCorrectors 0; pRefCell 0; pRefValue 0; }"""),
        "system/decomposeParDict": openfoam("dictionary", "decomposeParDict", f"""\
numberOfSubdomains {ranks}; method simple; simpleCoeffs {{ n ({columns} {rows} 1); delta 0.001; }}"""),
        "constant/transportProperties": openfoam("dictionary", "transportProperties", "nu 0.01;"),
        "0/p": openfoam("volScalarField", "p", """\
dimensions [0 2 -2 0 0 0 0];
internalField uniform 0;
boundaryField { lid { type zeroGradient; } fixed { type zeroGradient; } sides { type empty; } }"""),
        "0/U": openfoam("volVectorField", "U", """\
dimensions [0 1 -1 0 0 0 0];
internalField uniform (0 0 0);
boundaryField { lid { type fixedValue; value uniform (1 0 0); } fixed { type noSlip; } sides { type empty; } }"""),
    }

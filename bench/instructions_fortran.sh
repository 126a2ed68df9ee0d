#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Instructions that the Fortran bindings add to the C call, inside their own function: MPI_Send, MPI_Isend, MPI_Irecv.
#
#   instructions_fortran.sh PREFIX [MOST]
#
# PREFIX is a build tree or an installation. The compiler's code at the call is not counted: for mpi_f08 that is a
# descriptor of the buffer. Fails if a call adds more than MOST.
set -eu

[ $# -ge 1 ] && [ $# -le 2 ] || { sed -n '3,9p' "$0" >&2; exit 2; }
command -v valgrind >/dev/null || { echo "instructions_fortran.sh: valgrind is not installed" >&2; exit 77; }
source=$(cd "$(dirname "$0")" && pwd)/instructions.f90
prefix=$(cd "$1" && pwd)
most=${2:-1000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$prefix/bin/mpifort" -O2 -w "$source" -o program

# added BINDING ROUTINE FUNCTION: prints the instructions that the binding adds. callgrind counts inside the bindings'
# routine, under either of its names, and inside the C function that it calls.
added() {
    upper=$(echo "mpi_$2" | tr '[:lower:]' '[:upper:]')
    valgrind --tool=callgrind --toggle-collect="mpi_$2*" --toggle-collect="$upper*" --callgrind-out-file=counts \
        ./program "$1" >out 2>err || { cat err >&2; exit 1; }
    with=$(awk '/^(summary|totals):/ { sum = $2 } END { print sum + 0 }' counts)
    within=$(callgrind_annotate --inclusive=yes --threshold=100 counts |
        awk -v name=":PMPI_$3 " 'index($0 " ", name) { gsub(",", "", $1); print $1 + 0; exit }')
    calls=$(sed -n 's/^calls=//p' out)
    awk -v b="$1" -v c="$3" -v w="$with" -v i="${within:-0}" -v n="$calls" -v most="$most" 'BEGIN {
        if (w == 0 || i == 0) { print "instructions_fortran.sh: callgrind collected nothing" > "/dev/stderr"; exit 1 }
        printf "result bench=instructions_fortran binding=%s call=MPI_%s added=%.1f\n", b, c, (w - i) / n
        exit (w - i) / n > most }'
}
for binding in mpi mpi_f08; do
    added "$binding" send Send
    added "$binding" isend Isend
    added "$binding" irecv Irecv
done
added mpi_f08_element send Send
added mpi_f08_element irecv Irecv

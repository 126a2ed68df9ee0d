#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# modules.sh --folder COMPILER...: prints the name of the folder for module files of a compiler, as gfortran-12.
# modules.sh --output FOLDER --sources FOLDER COMPILER...: makes the module files of mpi and mpi_f08.
# modules.sh --into FOLDER --sources FOLDER COMPILER...: makes them in the compiler's own folder inside of FOLDER.
#
# Module files are of one compiler and one version of it. The library holds the things that they describe, so that
# nothing else has to be compiled.
set -eu

# folder COMPILER...: prints the folder's name. --version decides, which does not depend on the compiler's name.
folder() {
    LC_ALL=C "$@" --version </dev/null 2>/dev/null | awk '
        NR == 1 && /GNU Fortran/  { split($NF, part, "."); print "gfortran-" part[1]; found = 1 }
        NR == 1 && /flang/        { match($0, /version [0-9]+/); print "flang-" substr($0, RSTART + 8, RLENGTH - 8); found = 1 }
        NR == 1 && !found         { name = $1; gsub(/[^A-Za-z0-9]/, "", name); version = "0"
                                    if (match($0, /[0-9]+\.[0-9]+/)) version = substr($0, RSTART, RLENGTH)
                                    print tolower(name) "-" version }'
}

if [ "${1:-}" = --folder ]; then
    shift
    folder "$@"
    exit
fi
into=
[ "${1:-}" != --into ] || into=yes
if { [ "${1:-}" != --output ] && [ -z "$into" ]; } || [ "${3:-}" != --sources ] || [ $# -lt 5 ]; then
    echo "usage: modules.sh --folder COMPILER... | --output|--into FOLDER --sources FOLDER COMPILER..." >&2
    exit 2
fi
output=$2
sources=$(CDPATH='' cd -- "$4" && pwd)
shift 4
if [ -n "$into" ]; then
    name=$(folder "$@")
    [ -n "$name" ] || { echo "modules.sh: $* is no compiler that tells its version" >&2; exit 1; }
    output=$output/$name
fi
mkdir -p "$output"
output=$(CDPATH='' cd -- "$output" && pwd)

# Compilers write module files into their working directory. Only whole sets are moved into place.
work=$(mktemp -d "$output/making.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
for source in mpi_f08.f90 mpi.f90; do
    if ! "$@" -fsyntax-only "$sources/$source" >messages 2>&1; then
        # A compiler that cannot merely check compiles.
        "$@" -c "$sources/$source" -o module.o || { cat messages >&2; exit 1; }
    fi
done
chmod a+r ./*.mod
mv ./*.mod "$output"

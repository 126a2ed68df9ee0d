#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# findmpi_test.sh BUILD SCRATCH CMAKE: builds a project that says find_package(MPI). The installation lies first in
# the PATH; nothing else points to it.
set -eu
build=$1
scratch=$2
cmake=$3
project=$(cd "$(dirname "$0")" && pwd)/findmpi
rm -rf "$scratch"
mkdir -p "$scratch"
prefix=$(cd "$scratch" && pwd)/installed
"$cmake" --install "$build" --prefix "$prefix" >/dev/null
unset MPI_HOME LD_LIBRARY_PATH
PATH=$prefix/bin:$PATH

"$cmake" -S "$project" -B "$scratch/build" -G Ninja
grep -E '^MPI_CXX?_COMPILER:' "$scratch/build/CMakeCache.txt" | while IFS='=' read -r _ compiler; do
    case $compiler in
        "$prefix"/*) ;;
        *) echo "FAILED: found $compiler" >&2; exit 1 ;;
    esac
done
"$cmake" --build "$scratch/build"
"$scratch/build/c_program"
"$scratch/build/cxx_program"

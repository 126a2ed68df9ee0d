#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# findmpi_test.sh BUILD SCRATCH CMAKE: builds a project in Fortran that says find_package(MPI), and a program by
# pkg-config. The installation lies first in the PATH.
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
"$cmake" --build "$scratch/build"
for program in with_mpif with_mpi with_f08; do "$scratch/build/$program"; done

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name heddle-fortran.pc)")
export PKG_CONFIG_PATH
compiler=$("$prefix/bin/mpifort" -showme:command)
# shellcheck disable=SC2046
"$compiler" "$project/with_f08.f90" -o "$scratch/by_pkg_config" $(pkg-config --cflags --libs heddle-fortran)
"$scratch/by_pkg_config"

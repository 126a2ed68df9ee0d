#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PnetCDF's own tests on several ranks, built with an installation's mpicc.
#
#     ptests.sh build INSTALLATION PLACE             gets the sources from Debian and builds library and tests
#     ptests.sh run INSTALLATION PLACE [all]         `make ptest` on 4 ranks; all: `make ptests`, up to 10
#
# The exit code is 77 if the sources cannot be reached, or nothing has been built. It is also 77 if autoconf, automake,
# libtool or m4 is not installed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 3 ] || { sed -n '3,9p' "$0" >&2; exit 2; }
command=$1
installation=$(cd "$2" && pwd)
mkdir -p "$3"
place=$(cd "$3" && pwd)
export PATH="$installation/bin:$PATH"
export LD_LIBRARY_PATH="$installation/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# 10 ranks run on few cores; mpiexec needs no option for that.
export TESTMPIRUN="$installation/bin/mpiexec --timeout 600 -n NP"

build() {
    "$here/../debian/source.sh" pnetcdf "$place"
    for tool in autoreconf libtoolize m4; do
        command -v $tool >/dev/null || { echo "ptests.sh: $tool is not installed" >&2; exit 77; }
    done
    cd "$place/source"
    {
        [ -x configure ] || autoreconf -i
        [ -f Makefile ] || ./configure --disable-fortran --disable-cxx MPICC=mpicc CFLAGS=-O0 --with-mpi="$installation"
        make -j "${JOBS:-2}" && make -j "${JOBS:-2}" tests
    } >"$place/build.log" 2>&1 || {
        tail -n 30 "$place/build.log" >&2
        echo "ptests.sh: PnetCDF was not built; all that was said: $place/build.log" >&2
        exit 1
    }
    touch "$place/built"
}

run() {
    [ -e "$place/built" ] || { echo "ptests.sh: PnetCDF has not been built" >&2; exit 77; }
    target=ptest
    [ "${1:-}" != all ] || target=ptests
    log=$place/$target.log
    cd "$place/source"
    if make "$target" >"$log" 2>&1 && ! grep -q '^FAIL\|fail:' "$log"; then
        grep -c '\*\*\*.*pass\|pass$' "$log" | sed 's/$/ tests passed/'
    else
        grep -n 'FAIL\|fail\|Error' "$log" | tail -n 20
        echo "ptests.sh: all that was said: $log"
        exit 1
    fi
}

case $command in
    build) build ;;
    run) run "${4:-}" ;;
    *) sed -n '3,9p' "$0" >&2; exit 2 ;;
esac

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# HDF5's own tests of parallel access (testpar), built with an installation's mpicc.
#
#     testpar.sh build INSTALLATION PLACE             gets the sources from Debian and builds the tests
#     testpar.sh run INSTALLATION PLACE RANKS [all]   runs a short choice, or all of them
#
# The exit code is 77 if the sources cannot be reached, or nothing has been built.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 3 ] || { sed -n '3,8p' "$0" >&2; exit 2; }
command=$1
installation=$(cd "$2" && pwd)
mkdir -p "$3"
place=$(cd "$3" && pwd)
build=$place/build
short="t_mpi t_pread t_init_term t_shapesame"
all="t_mpi testphdf5 t_cache t_cache_image t_pread t_init_term t_shapesame t_filters_parallel t_bigio"
export LD_LIBRARY_PATH="$installation/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

build() {
    "$here/../debian/source.sh" hdf5 "$place"
    command -v cmake >/dev/null || { echo "testpar.sh: cmake is not installed" >&2; exit 77; }
    mkdir -p "$build"
    # HDF5's cmake must run in a folder of its own.
    (cd "$build" && cmake ../source -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O0 -w" \
        -DCMAKE_C_COMPILER="$installation/bin/mpicc" -DMPI_C_COMPILER="$installation/bin/mpicc" \
        -DMPIEXEC_EXECUTABLE="$installation/bin/mpiexec" \
        -DHDF5_ENABLE_PARALLEL=ON -DBUILD_TESTING=ON -DBUILD_SHARED_LIBS=OFF -DHDF5_BUILD_TOOLS=OFF \
        -DHDF5_BUILD_HL_LIB=OFF -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_BUILD_CPP_LIB=OFF -DHDF5_BUILD_FORTRAN=OFF \
        -DHDF5_ENABLE_Z_LIB_SUPPORT=OFF -DHDF5_ENABLE_SZIP_SUPPORT=OFF) >"$place/build.log" 2>&1 &&
        cmake --build "$build" --parallel "${JOBS:-2}" --target $all >>"$place/build.log" 2>&1 || {
        tail -n 30 "$place/build.log" >&2
        echo "testpar.sh: HDF5 was not built; all that was said: $place/build.log" >&2
        exit 1
    }
}

run() {
    ranks=$1
    tests=$short
    [ "${2:-}" != all ] || tests=$all
    [ -d "$build/bin" ] || { echo "testpar.sh: HDF5 has not been built" >&2; exit 77; }
    failed=0
    folder=$place/run.$ranks
    rm -rf "$folder"
    mkdir -p "$folder/testfiles"
    cd "$folder"
    for test in $tests; do
        [ -x "$build/bin/$test" ] || continue
        ln -sf "$build/bin/$test" "$test"  # some tests start themselves by this name
        if "$installation/bin/mpiexec" --timeout "${SECONDS_EACH:-1800}" -n "$ranks" "./$test" >"$test.log" 2>&1; then
            echo "$test: right"
        else
            echo "$test: exit code $?; its output: $folder/$test.log"
            tail -n 20 "$test.log"
            failed=1
        fi
    done
    exit $failed
}

case $command in
    build) build ;;
    run) run "${4:-4}" "${5:-}" ;;
    *) sed -n '3,8p' "$0" >&2; exit 2 ;;
esac

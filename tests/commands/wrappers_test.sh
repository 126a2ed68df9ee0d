#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# wrappers_test.sh PREFIX SCRATCH: mpicc and mpicxx of the installation at PREFIX.
set -eu
prefix=$(cd "$1" && pwd)
rm -rf "$2"
mkdir -p "$2"
cd "$2"
unset HEDDLE_CC HEDDLE_CXX MPICH_CC MPICH_CXX OMPI_CC OMPI_CXX
PATH=$prefix/bin:$PATH

fail() {
    echo "FAILED: $*" >&2
    exit 1
}
# contains WHAT TEXT WORD
contains() {
    case $2 in *"$3"*) ;; *) fail "$1: '$3' is missing in: $2" ;; esac
}
lacks() {
    case $2 in *"$3"*) fail "$1: '$3' is in: $2" ;; *) ;; esac
}

cat >"a program.c" <<'END'
#include <mpi.h>
int main(void) {
    int version, subversion;
    MPI_Get_version(&version, &subversion);
    return version == 5 && subversion == 0 ? 0 : 1;
}
END
cp "a program.c" "a program.cpp"

# Programs are compiled, linked, and find their library without help.
mpicc -Wall -Wextra -Wpedantic -Werror "a program.c" -o c
./c || fail "the C program"
for compiler in mpicxx mpic++ mpiCC; do
    "$compiler" -Wall -Wextra -Wpedantic -Werror "a program.cpp" -o cxx
    ./cxx || fail "the C++ program of $compiler"
done
mpicc -c "a program.c" -o object.o
mpicc object.o -o linked
./linked || fail "the program linked apart"
LC_ALL=C readelf -d linked >dynamic
contains "needed libraries" "$(cat dynamic)" "[libmpi_abi.so.1]"

# mpicc works through a link from elsewhere.
ln -s "$prefix/bin/mpicc" my-mpicc
./my-mpicc "a program.c" -o c2 && ./c2 || fail "a link to mpicc"

# -show prints the command, in a form that can be pasted into a shell.
contains "-show" "$(mpicc -show)" "-lmpi_abi"
contains "-showme" "$(mpicxx -showme x.cpp)" "x.cpp"
lacks "-show -c" "$(mpicc -show -c x.c)" "-lmpi_abi"
lacks "-show -E" "$(mpicc -E x.c -show)" "-lmpi_abi"
lacks "-show -S" "$(mpicc -S x.c -show)" "-lmpi_abi"
contains "-showme:compile" "$(mpicc -showme:compile)" "$prefix/include"
lacks "-showme:compile" "$(mpicc -showme:compile)" "-lmpi_abi"
contains "-showme:link" "$(mpicc -showme:link)" "-lmpi_abi"
lacks "-showme:link" "$(mpicc -showme:link)" "-I"
contains "-compile-info" "$(mpicc -compile-info)" "-I"
contains "-link-info" "$(mpicc -link-info)" "-lmpi_abi"
contains "-compile_info" "$(mpicc -compile_info)" "-I"
contains "-link_info" "$(mpicc -link_info)" "-lmpi_abi"
eval "$(mpicc -show "a program.c" -o pasted)" && ./pasted || fail "the shown command"
mpicc --version >/dev/null || fail "--version"
mpicc -v 2>/dev/null || fail "-v"
if mpicc -showme:nonsense 2>/dev/null; then fail "-showme:nonsense was accepted"; fi

# An option or a variable chooses another compiler.
is() {
    [ "$2" = "$3" ] || fail "$1: '$2' instead of '$3'"
}
is "-cc" "$(mpicc -cc=other -showme:command)" other
is "HEDDLE_CC" "$(HEDDLE_CC='one two' OMPI_CC=three mpicc -showme:command)" "one two"
is "MPICH_CXX" "$(MPICH_CXX=other mpicxx -showme:command)" other
is "OMPI_CC" "$(OMPI_CC=other mpicc -showme:command)" other
contains "-show" "$(HEDDLE_CC='one two' mpicc -show)" "one two "
HEDDLE_CC='env cc' mpicc "a program.c" -o two-words && ./two-words || fail "a compiler of two words"

contains "--help" "$(mpicc --help)" "mpicc compiles and links MPI programs in C with Heddle."
contains "-help" "$(mpicxx -help)" "mpicxx compiles and links MPI programs in C++ with Heddle."

# pkg-config
if command -v pkg-config >/dev/null; then
    pcdir=$(dirname "$(find "$prefix" -name heddle.pc | head -n 1)")
    flags=$(PKG_CONFIG_PATH=$pcdir pkg-config --cflags --libs heddle)
    eval "cc 'a program.c' $flags -o packaged" && ./packaged || fail "the program built with pkg-config"
    # pkg-config knows it also by the names that other MPIs have.
    for name in mpi mpi-c mpi-cxx ompi ompi-c mpich; do
        [ "$(PKG_CONFIG_PATH=$pcdir pkg-config --cflags --libs $name)" = "$flags" ] || fail "the package $name"
    done
    if [ -e "$pcdir/heddle-fortran.pc" ]; then
        is "mpi-fort" "$(PKG_CONFIG_PATH=$pcdir pkg-config --cflags --libs mpi-fort)" \
            "$(PKG_CONFIG_PATH=$pcdir pkg-config --cflags --libs heddle-fortran)"
    fi
fi

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Builds rsmpi (the crate `mpi`) with our mpicc and runs its examples. It leaves out those that spawn processes
# and those that are meant to fail.
#
#     examples.sh INSTALLATION PLACE RANKS
#
# The exit code is 77 if cargo or libclang is not installed, or the crate cannot be reached. bindgen, which
# reads mpi.h, needs libclang and the headers that belong to it: Debian's libclang-dev has both.
set -eu

version=0.8.2
[ $# -eq 3 ] || { sed -n '3,9p' "$0" >&2; exit 2; }
installation=$(cd "$1" && pwd)
mkdir -p "$2"
place=$(cd "$2" && pwd)
ranks=$3
command -v cargo >/dev/null || { echo "examples.sh: cargo is not installed" >&2; exit 77; }

PATH=$installation/bin:$PATH
LD_LIBRARY_PATH=$installation/lib

# Prints the folder of the newest libclang that has its headers beside it. It skips libclang-cpp, which is another
# library, and the rest of a libclang that has lost its headers.
find_libclang() {
    for folder in $(find "${LLVM_ROOTS:-/usr/lib}" -maxdepth 1 -name 'llvm-*' 2>/dev/null | sort -Vr); do
        found=$(find "$folder/lib" -maxdepth 1 '(' -name 'libclang.so*' -o -name 'libclang-[0-9]*.so*' ')' \
            -exec test -e {} ';' -print 2>/dev/null | head -n 1)
        headers=$(find "$folder/lib/clang/" -path '*/include/stddef.h' 2>/dev/null | head -n 1)
        [ -z "$found" ] || [ -z "$headers" ] || { echo "${found%/*}"; return; }
    done
}
if [ -z "${LIBCLANG_PATH:-}" ]; then
    LIBCLANG_PATH=$(find_libclang)
    [ -n "$LIBCLANG_PATH" ] || { echo "examples.sh: libclang-dev is not installed" >&2; exit 77; }
fi
CARGO_TARGET_DIR=$place/target
export PATH LD_LIBRARY_PATH LIBCLANG_PATH CARGO_TARGET_DIR

cd "$place"
if [ ! -d crate ]; then
    rm -rf fetch
    cargo init --quiet --vcs none --name fetch fetch
    echo "mpi = \"=$version\"" >>fetch/Cargo.toml
    (cd fetch && cargo vendor --quiet --versioned-dirs vendor >/dev/null) ||
        { echo "examples.sh: the crate cannot be reached" >&2; exit 77; }
    cp -r "fetch/vendor/mpi-$version" crate
    rm -rf fetch
fi
(cd crate && cargo build --quiet --examples --features derive,user-operations)

failed=0
for source in crate/examples/*.rs; do
    example=$(basename "$source" .rs)
    case $example in spawn* | *panic) continue ;; esac
    [ -x "target/debug/examples/$example" ] || continue
    if mpiexec --timeout 60 -n "$ranks" "target/debug/examples/$example" >"$example.log" 2>&1; then
        echo "$example: right"
    else
        echo "$example: exit code $?; its output:"
        cat "$example.log"
        failed=1
    fi
done
exit $failed

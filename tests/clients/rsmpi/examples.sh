#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds rsmpi (the crate `mpi`) with our mpicc and runs its examples, but for those that spawn processes
# and those that are meant to fail.
#
#   examples.sh INSTALLATION PLACE RANKS
#
# Exit code 77 where cargo or libclang is not installed, or the crate cannot be reached.
set -eu

version=0.8.2
[ $# -eq 3 ] || { sed -n '3,8p' "$0" >&2; exit 2; }
installation=$(cd "$1" && pwd)
mkdir -p "$2"
place=$(cd "$2" && pwd)
ranks=$3
command -v cargo >/dev/null || { echo "examples.sh: cargo is not installed" >&2; exit 77; }

PATH=$installation/bin:$PATH
LD_LIBRARY_PATH=$installation/lib
# Where bindgen does not find it by itself.
if [ -z "${LIBCLANG_PATH:-}" ]; then
    libclang=$(find /usr/lib/llvm-*/lib -name 'libclang-*.so*' 2>/dev/null | sort -V | tail -n 1)
    [ -n "$libclang" ] || { echo "examples.sh: libclang is not installed" >&2; exit 77; }
    LIBCLANG_PATH=${libclang%/*}
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

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests that examples.sh skips if bindgen can use no libclang, and names a package that has one.
#
#     libclang_test.sh WORK
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$1"
mkdir -p "$1/bin" "$1/place" "$1/roots"
work=$(cd "$1" && pwd)
unset LIBCLANG_PATH

# A cargo that prints the LIBCLANG_PATH that it gets, and can reach nothing.
cat >"$work/bin/cargo" <<'END'
#!/bin/sh
echo "LIBCLANG_PATH=$LIBCLANG_PATH"
exit 1
END
chmod +x "$work/bin/cargo"
try() {
    status=0
    said=$(PATH="$work/bin:$PATH" LLVM_ROOTS=$work/roots "$here/examples.sh" "$work" "$work/place" 2 2>&1) || status=$?
}
fail() { echo "FAILED: $*: exit code $status: $said" >&2; exit 1; }
skips() {
    [ "$status" -eq 77 ] || fail "$1"
    case $said in *libclang-dev*) ;; *) fail "$1" ;; esac
}
library() {
    mkdir -p "$work/roots/llvm-$1/lib/clang/$1/include"
    : >"$work/roots/llvm-$1/lib/$2"
}

try
skips "no LLVM at all"
library 14 libclang-cpp.so.14
: >"$work/roots/llvm-14/lib/clang/14/include/stddef.h"
try
skips "libclang-cpp is no libclang"
library 15 libclang-15.so.1
try
skips "a libclang without its headers"
library 13 libclang.so.1
: >"$work/roots/llvm-13/lib/clang/13/include/stddef.h"
try
[ "$said" = "LIBCLANG_PATH=$work/roots/llvm-13/lib" ] || fail "the one that is complete"

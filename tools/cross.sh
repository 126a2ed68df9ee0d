#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# cross.sh [--in DIR]: builds Heddle for aarch64 with Debian's cross compilers, in a Debian made anew. Tries it under
# qemu-user: programs of two ranks in C and Fortran, and the unit tests.
#
# Builds the newest commit. Takes root, two gigabytes, the network, and an hour on two cores. With --in the folder is DIR and
# stays, and the next call goes on where the last one ended.
set -eu

keep=
[ $# -ne 2 ] || [ "$1" != --in ] || { mkdir -p "$2"; keep=$(cd "$2" && pwd); shift 2; }
[ $# -eq 0 ] || { sed -n '4,8p' "$0" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "cross.sh: making a Debian and mounting in it takes root" >&2; exit 1; }
checkout=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:?cross.sh: this is not a Debian with a name}")

if [ "${HEDDLE_CROSS_INSIDE:-}" != yes ]; then
    work=${keep:-$(mktemp -d "${TMPDIR:-/tmp}/heddle-cross.XXXXXX")}
    status=0
    HEDDLE_CROSS_INSIDE=yes HEDDLE_CROSS_WORK=$work \
        unshare --mount --pid --fork --kill-child=KILL "$0" </dev/null || status=$?
    [ -n "$keep" ] || rm -rf --one-file-system "$work"
    exit $status
fi

work=$HEDDLE_CROSS_WORK
root=$work/debian
mount --make-rprivate /
# shellcheck source=tools/debian_anew.sh
. "$checkout/tools/debian_anew.sh"
if [ ! -e "$work/made" ]; then
    make_debian "$suite" "$root" "ca-certificates,git,cmake,ninja-build,python3,pkgconf,libcli11-dev,qemu-user,\
crossbuild-essential-arm64,gfortran-aarch64-linux-gnu,libhwloc-dev:arm64,libfmt-dev:arm64,libfabric-dev:arm64,libgtest-dev:arm64" \
        --architectures="$(dpkg --print-architecture),arm64"
    touch "$work/made"
fi
# Unchanged files keep their times, and their objects are not built again.
[ -d "$root/source" ] || git clone --quiet --no-hardlinks "$checkout" "$root/source"
git -C "$root/source" fetch --quiet "$checkout" HEAD
git -C "$root/source" reset --quiet --hard FETCH_HEAD
mount_debian "$root"

cat >"$root/try" <<'END'
set -eu
cd /source
export PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig
cmake -B /build -G Ninja --toolchain cmake/aarch64.cmake -DCMAKE_BUILD_TYPE=Release -DHEDDLE_BENCH=OFF -DHEDDLE_TESTS=ON
cmake --build /build --parallel "$(nproc)" --target product
cmake --install /build --prefix /heddle | tail -n 1
run=qemu-aarch64
$run /heddle/bin/heddle info
aarch64-linux-gnu-gcc -O2 -I/heddle/include examples/hash_table.c -o /hash_table -L/heddle/lib -lmpi_abi -Wl,-rpath,/heddle/lib
HEDDLE_FC=aarch64-linux-gnu-gfortran /heddle/bin/mpifort -O2 examples/primes.f90 -o /primes
for program in /hash_table /primes; do
    said=$($run /heddle/bin/mpiexec --timeout 300 -n 2 $run $program)
    echo "$said"
    case $said in *", correct"*) ;; *) echo "cross.sh: $program is wrong" >&2; exit 1 ;; esac
done
cmake --build /build --parallel "$(nproc)" --target unit_tests
UNIT_TEST_LIMIT=3000 $run /build/tests/unit_tests --gtest_brief=1
END
in_debian "$root" sh /try
echo "cross.sh: Heddle works on aarch64, as far as qemu-user tells"

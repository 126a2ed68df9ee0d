#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# stencil_test.sh PREFIX [BENCHMARK]: tests `heddle stencil` of the installation at PREFIX, a model of halo exchanges.
# BENCHMARK measures such exchanges.
set -eu
heddle=$(cd "$1" && pwd -P)/bin/heddle
mpiexec=$(cd "$1" && pwd -P)/bin/mpiexec
benchmark=${2-}
unset LD_LIBRARY_PATH
fail() { echo "FAILED: $*" >&2; exit 1; }

# expect LINE...: each LINE is an extended regular expression that a line of $said must match.
expect() {
    for line in "$@"; do echo "$said" | grep -Eq "$line" || fail "no line $line in: $said"; done
}
# refused REASON COMMAND...: COMMAND must end with exit code 2 and print REASON.
refused() {
    reason=$1; shift
    if said=$("$@" 2>&1); then fail "accepted: $*"; else code=$?; fi
    [ "$code" = 2 ] || fail "exit code $code: $*"
    expect "$reason"
}

said=$("$heddle" stencil --points 27 --decomposition 8x8x4)
expect '^  M_t +2072 ' '^  T_r +184 ' '^  T_s +344 ' '^  M_s +576 .* xy$'
said=$("$heddle" stencil --points 5 --decomposition 32x32)
expect '^  M_t +128 ' '^  T_r +124 ' '^  T_s +128 ' '^  M_e +32 .* x$'
said=$("$heddle" stencil --points 27 --decomposition 1x1x256)
expect '^  M_t +6146 ' '^  T_r +256 ' 'T_r is their number'
said=$("$heddle" stencil --points 27 --decomposition naive --threads 64)
expect '^  M_t +1664 ' '^  T_r +64 ' '^  T_s +64 '
refused 'two dimensions, 7 or 27 in three, not 8$' "$heddle" stencil --points 8 --decomposition 2x2
refused 'has 3 dimensions, and the decomposition 8x8 has 2$' "$heddle" stencil --points 7 --decomposition 8x8
refused "not '0x4'$" "$heddle" stencil --points 9 --decomposition 0x4
refused "not 'cube'$" "$heddle" stencil --points 9 --decomposition cube
refused 'exceeds 63 bits' "$heddle" stencil --points 9 --decomposition 9000000000000000000x2
refused 'needs --threads' "$heddle" stencil --points 9 --decomposition naive
refused '1 thread or more, not -3' "$heddle" stencil --points 9 --decomposition naive --threads=-3
refused '1 thread or more, not 0' "$heddle" stencil --points 9 --decomposition naive --threads 0
refused '9000000000000000000 threads with 8 messages each: .* exceeds 63 bits' \
    "$heddle" stencil --points 9 --decomposition naive --threads 9000000000000000000
refused 'is for a naive' "$heddle" stencil --points 9 --decomposition 2x2 --threads 4

[ -n "$benchmark" ] || exit 0
# All messages arrive: with one message per thread and with many, with more threads than cores.
for exchange in "--points 5 --decomposition 1x1" "--points 9 --decomposition 4x4" \
    "--points 7 --decomposition 8x8x4 --wait one" "--points 27 --decomposition 1x1x8 --size 100" \
    "--decomposition naive --threads 4 --each 512"; do
    # shellcheck disable=SC2086
    said=$("$mpiexec" --timeout 60 -n 2 "$benchmark" $exchange --runs 2)
    expect '^stencil: .* drained in [0-9.]+ ms ' '^result bench=stencil .* simulated_single=[0-9.]+ .* drain_ms=[0-9.]+ '
done
# The benchmark simulates the list alone, without messages.
said=$("$benchmark" --simulate single --points 27 --decomposition 8x8x4)
expect ' depth=(29|30|31)[0-9]\.'
said=$("$benchmark" --simulate whole --points 27 --decomposition 8x8x4)
expect ' depth=5[0-9][0-9]\.'
said=$("$benchmark" --simulate 3 --points 27 --decomposition 8x8x4)
expect 'turns of 3 operations' ' depth=[34][0-9][0-9]\.'
said=$("$benchmark" --simulate single --points 9 --decomposition naive --threads 4)
expect '^stencil: naive 4x8: 32 messages '
said=$("$benchmark" --simulate single --points 9)
expect '^stencil: 32x32 9-point: 380 messages '
refused 'exceeds 63 bits' "$benchmark" --points 9 --decomposition 9000000000000000000x2
refused 'is for --decomposition naive' "$benchmark" --threads 4
refused 'both say how many' "$benchmark" --decomposition naive --points 9 --each 8
refused "runs cannot be '99999999999': .* from 1 to 2147483647" "$benchmark" --runs 99999999999
refused "size cannot be '99999999999999999999'" "$benchmark" --size 99999999999999999999
refused "simulate cannot be 'some': allowed are beside, no, single, whole, or" "$benchmark" --simulate some
refused "simulate cannot be '0'" "$benchmark" --simulate 0
refused 'allowed are threads, one' "$benchmark" --wait none
refused 'at most 16777216 can be tried' "$benchmark" --decomposition naive --threads 1000000 --each 1000000
# Stacks of 1000 threads do not fit into the memory that the process may have.
# shellcheck disable=SC2016
refused 'needs 1000 threads, and the system gives no more than [0-9]+: ' sh -c 'ulimit -s 8192 && ulimit -v 4000000 &&
    exec "$0" --timeout 60 -n 2 "$1" --decomposition naive --threads 1000 --each 1' "$mpiexec" "$benchmark"

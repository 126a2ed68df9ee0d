#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Instructions of MPI_Isend and of a posted MPI_Irecv of 0 bytes under MPI_THREAD_MULTIPLE.
#
#   instructions.sh PROGRAM MPIEXEC [OPTION ...]
#
# PROGRAM is the built instructions.c. Rank 0 runs under callgrind once for each counted function,
# rank 1 without it.
set -eu

[ $# -ge 2 ] || { sed -n '3,8p' "$0" >&2; exit 2; }
command -v valgrind >/dev/null || { echo "instructions.sh: valgrind is not installed" >&2; exit 3; }
program=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints the instructions that callgrind collected inside function $1.
collected() {
    counted=$1
    shift
    "$@" -n 1 valgrind --tool=callgrind --toggle-collect="$counted" \
        --callgrind-out-file="$work/$counted.%p" "$program" : -n 1 "$program" \
        >"$work/out" 2>"$work/err" </dev/null || { cat "$work/err" >&2; exit 1; }
    awk '/^(summary|totals):/ { sum = $2 } END { print sum + 0 }' "$work/$counted".*
}

isend=$(collected count_isend "$@")
irecv=$(collected count_irecv "$@")
nothing=$(collected count_nothing "$@")
calls=$(sed -n 's/^calls=\([0-9]*\).*/\1/p' "$work/out")
[ "${isend:-0}" -gt 0 ] && [ "${irecv:-0}" -gt 0 ] && [ "${calls:-0}" -gt 0 ] || {
    echo "instructions.sh: callgrind collected nothing" >&2
    exit 1
}
awk -v s="$isend" -v r="$irecv" -v n="$nothing" -v c="$calls" 'BEGIN {
    printf "instructions: MPI_Isend %.1f, posted MPI_Irecv %.1f\n", (s - n) / c, (r - n) / c
    printf "result bench=instructions isend=%.1f irecv=%.1f\n", (s - n) / c, (r - n) / c
}'

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Instructions of MPI functions, counted by callgrind under MPI_THREAD_MULTIPLE.
#
#   instructions.sh PROGRAM MPIEXEC [OPTION ...]
#
# PROGRAM is the built instructions.c (MPI_Isend and a posted MPI_Irecv of 0 bytes) or instructions_windows.c (calls
# on a window). Its last line names the counted functions and how many calls each makes. Rank 0 runs under callgrind
# once for each function, rank 1 without it. MOST="NAME=NUMBER ..." in the environment: more are a failure.
set -eu

[ $# -ge 2 ] || { sed -n '3,9p' "$0" >&2; exit 2; }
command -v valgrind >/dev/null || { echo "instructions.sh: valgrind is not installed" >&2; exit 77; }
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

nothing=$(collected count_nothing "$@")
calls=$(sed -n 's/^calls=\([0-9]*\).*/\1/p' "$work/out")
names=$(sed -n 's/^calls=.*counted=//p' "$work/out" | tr ',' ' ')
figures=
for name in $names; do
    sum=$(collected "count_$name" "$@")
    [ "${sum:-0}" -gt 0 ] && [ "${calls:-0}" -gt 0 ] || {
        echo "instructions.sh: callgrind collected nothing in count_$name" >&2
        exit 1
    }
    figures="$figures $name=$(awk -v s="$sum" -v n="$nothing" -v c="$calls" 'BEGIN { printf "%.1f", (s - n) / c }')"
done
echo "instructions:$figures"
echo "result bench=instructions$figures"
echo "$figures ${MOST:-}" | tr ' ' '\n' | awk -F= '
    $1 == "" { next }
    !($1 in figure) { figure[$1] = $2; next }
    figure[$1] > $2 + 0 { print "instructions.sh: " $1 " takes more than " $2 > "/dev/stderr"; wrong = 1 }
    END { exit wrong }'

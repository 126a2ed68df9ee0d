#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Instructions that a call through a face costs more than through libmpi_abi.so.1: all of them, in the program, the
# face and the library. callgrind counts under MPI_THREAD_MULTIPLE.
#
#   instructions_faces.sh MPIEXEC PROGRAM ABI=PROGRAM ...
#
# PROGRAM is instructions_calls.c, built for the standard ABI; the others are the same, built for the ABI of a face.
# Rank 0 runs under callgrind, rank 1 without it. MOST="NAME=NUMBER ..." in the environment: more are a failure.
set -eu

[ $# -ge 3 ] || { sed -n '3,9p' "$0" >&2; exit 2; }
command -v valgrind >/dev/null || { echo "instructions_faces.sh: valgrind is not installed" >&2; exit 77; }
mpiexec=$1
standard=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Writes `NAME INSTRUCTIONS` of each counted function of program $2 to file $1.
count() {
    names=$(names "$2")
    for name in $names; do
        rm -f "$work/counts"
        "$mpiexec" -n 1 valgrind --tool=callgrind --toggle-collect="count_$name" --callgrind-out-file="$work/counts" "$2" \
            : -n 1 "$2" >"$work/out" 2>"$work/err" </dev/null || { cat "$work/err" >&2; exit 1; }
        calls=$(sed -n 's/^calls=\([0-9]*\).*/\1/p' "$work/out")
        awk -v name="$name" -v calls="$calls" '
            /^(summary|totals):/ { sum = $2 }
            END {
                if (!sum) { print "instructions_faces.sh: nothing was collected in count_" name > "/dev/stderr"; exit 1 }
                printf "%s %.1f\n", name, sum / calls
            }' "$work/counts"
    done >"$1"
}
names() {
    "$mpiexec" -n 2 "$1" | sed -n 's/^calls=.*counted=//p' | tr ',' ' '
}

count "$work/standard" "$standard"
status=0
for program in "$@"; do
    abi=${program%%=*}
    count "$work/$abi" "${program#*=}"
    echo "${MOST:-}" | tr ' ' '\n' | sed -n "s/=/ /p" | awk -v abi="$abi" '
        FILENAME == "-" { most[$1] = $2; next }
        FILENAME == first || first == "" { first = FILENAME; standard[$1] = $2; next }
        {
            more = $2 - standard[$1]
            printf "result bench=instructions_faces abi=%s call=%s added=%.1f\n", abi, $1, more
            if ($1 in most && more > most[$1] + 0) {
                print "instructions_faces.sh: " abi ": " $1 " takes more than " most[$1] " more" > "/dev/stderr"
                wrong = 1
            }
        }
        END { exit wrong }' - "$work/standard" "$work/$abi" || status=1
done
exit $status

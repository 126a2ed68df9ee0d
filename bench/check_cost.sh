#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Costs of mpiexec --check: a step of a halo exchange with and without it, in turns. Prints medians, and the median of
# the ratios of neighbouring runs.
#
#   check_cost.sh PROGRAM MPIEXEC [TURNS [CELLS...]]
#
# PROGRAM is the built halo.c. RANKS=NUMBER in the environment: 2 if it is not set. KIND=persistent: requests made once.
set -eu

[ $# -ge 2 ] || { sed -n '3,9p' "$0" >&2; exit 2; }
program=$1 mpiexec=$2 turns=${3:-9}
shift $(($# > 3 ? 3 : $#))
[ $# -gt 0 ] || set -- 8 32 64 128 256
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# step CELLS OPTION...: prints the microseconds of a step.
step() {
    cells=$1
    shift
    steps=$((400000 / (cells * cells / 40 + 100)))
    "$mpiexec" "$@" -n "${RANKS:-2}" "$program" "$cells" "$steps" ${KIND:-} >"$work/out"
    sed -n 's/.*step_us=//p' "$work/out"
}
median() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

echo "| cells of a rank | without | with \`--check\` | ratio |"
echo "|---|---|---|---|"
for cells in "$@"; do
    : >"$work/turns"
    for turn in $(seq "$turns"); do
        without=$(step "$cells")
        with=$(step "$cells" --check)
        echo "$without $with" >>"$work/turns"
    done
    awk '{ print $1 }' "$work/turns" | median >"$work/without"
    awk '{ print $2 }' "$work/turns" | median >"$work/with"
    awk '{ print $2 / $1 }' "$work/turns" | median >"$work/ratio"
    printf '| %s x %s | %.1f | %.1f | %.2f |\n' "$cells" "$cells" "$(cat "$work/without")" "$(cat "$work/with")" "$(cat "$work/ratio")"
done

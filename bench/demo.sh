#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A threaded program at work, then threads against processes as bars: Multirate with 1, 2 and 4
# pairs of threads of two processes against as many pairs of processes. Takes about half a minute.
#
#   demo.sh BUILD_DIR
set -eu

[ $# -eq 1 ] || { sed -n '3,7p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
for mpiexec in "$build/cmd/mpiexec" "$build/cmd/mpiexec/mpiexec" "$build/bin/mpiexec"; do
    [ -f "$mpiexec" ] && break
done
for program in "$mpiexec" "$build/examples/heat2d" "$build/bench/multirate"; do
    [ -f "$program" ] && [ -x "$program" ] || { echo "demo.sh: $program is missing: build first" >&2; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

bold='' plain='' green='' blue=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$(printf '\033[1m') plain=$(printf '\033[0m')
    green=$(printf '\033[32m') blue=$(printf '\033[34m')
fi

# Prints the rate of $2 pairs of $1 (threads or processes), in M messages/s.
rate() {
    ranks=2
    [ "$1" = threads ] || ranks=$((2 * $2))
    "$mpiexec" -n "$ranks" "$build/bench/multirate" --mode "$1" --pairs "$2" --seconds 0.1 \
        --repetitions 3 >"$work/out" 2>"$work/err" </dev/null || {
        echo "demo.sh: multirate with $2 pairs of $1 failed:" >&2
        cat "$work/err" >&2
        exit 1
    }
    sed -n 's/^result .* rate=\([0-9.]*\).*/\1/p' "$work/out"
}

echo "${bold}Heat on a plate: 2 processes, 2 threads each, every thread exchanging its own halo$plain"
OMP_WAIT_POLICY=passive "$mpiexec" -n 2 "$build/examples/heat2d" --threads 2 </dev/null
echo
echo "${bold}Messages per second, 0 bytes, one communicator: threads against processes$plain"

# In turn, since a machine changes while one measures; the medians of three turns count.
: >"$work/rates"
for turn in 1 2 3; do
    for pairs in 1 2 4; do
        for mode in threads processes; do
            value=$(rate "$mode" "$pairs")
            [ -n "$value" ] || { echo "demo.sh: no rate for $pairs pairs of $mode" >&2; exit 1; }
            echo "$pairs $mode $value" >>"$work/rates"
        done
    done
done

sort -k1,1n -k2,2r -k3,3n "$work/rates" | awk -v bold="$bold" -v plain="$plain" \
    -v threads="$green" -v processes="$blue" '
    function bar(mode, value,   text, k) {
        for (k = 0; k < int(50 * value / most + 0.5); ++k) text = text "█"
        return (mode == "threads" ? threads : processes) text plain
    }
    { if (++seen[$1, $2] == 2) { value[$1, $2] = $3; if ($3 > most) most = $3 } }
    END {
        if (most <= 0) exit 1
        for (n = 1; n <= 4; n *= 2) {
            print ""
            printf "  2 x %d %-9s %s %.2f M/s\n", n, (n == 1 ? "thread" : "threads"), \
                bar("threads", value[n, "threads"]), value[n, "threads"]
            printf "  %5d %-9s %s %.2f M/s\n", 2 * n, "processes", \
                bar("processes", value[n, "processes"]), value[n, "processes"]
        }
        printf "\n%s4 pairs of threads that share one communicator reach %.2f times the message " \
            "rate of 4 pairs of processes.%s\n", bold, \
            value[4, "threads"] / value[4, "processes"], plain
    }'

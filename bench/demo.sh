#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A threaded program at work, then threads against processes as bars. Multirate runs with 1, 2 and 4 pairs of
# threads of two processes, and with as many pairs of processes. MPICH and Open MPI take part if their
# wrappers are installed (Debian's mpicc.mpich, mpicc.openmpi; or PEERS="mpicc:mpicxx:mpiexec ...").
# Takes half a minute, and more while the machine is busy.
#
#   demo.sh BUILD_DIR
set -eu

[ $# -eq 1 ] || { sed -n '3,8p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
for program in bin/mpiexec examples/heat2d bench/multirate bench/line; do
    [ -x "$build/$program" ] || { echo "demo.sh: $build/$program is missing: build first" >&2; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export OMP_WAIT_POLICY=passive

bold='' plain='' green='' blue=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$(printf '\033[1m') plain=$(printf '\033[0m')
    green=$(printf '\033[32m') blue=$(printf '\033[34m')
fi

# Prints the cores that other programs keep busy, in tenths: the kernel counts while this script sleeps.
others() {
    busy() { awk '/^cpu /{ print $2 + $3 + $4 + $7 + $8 + $9 }' /proc/stat; }
    before=$(busy)
    sleep 0.5
    echo $((($(busy) - before) * 20 / $(getconf CLK_TCK)))
}

# regime NANOSECONDS: prints how far two cores are from each other, in the words of `heddle bench`.
regime() {
    if [ "$1" -le 120 ]; then echo near; elif [ "$1" -le 350 ]; then echo middle; else echo far; fi
}

# rate MPIEXEC PROGRAM MODE PAIRS: prints M messages/s.
rate() {
    ranks=2
    [ "$3" = threads ] || ranks=$((2 * $4))
    "$1" -n "$ranks" "$2" --mode "$3" --pairs "$4" --seconds 0.1 --repetitions 3 \
        >"$work/out" 2>"$work/err" </dev/null || {
        echo "demo.sh: multirate with $4 pairs of $3 failed:" >&2
        cat "$work/err" >&2
        exit 1
    }
    sed -n 's/^result .* rate=\([0-9.]*\).*/\1/p' "$work/out"
}

# take_turns PAIRS: measures threads and processes back to back, since a machine changes meanwhile.
take_turns() {
    threads=$(rate "$build/bin/mpiexec" "$build/bench/multirate" threads "$1")
    processes=$(rate "$build/bin/mpiexec" "$build/bench/multirate" processes "$1")
    echo "$1 $threads $processes $("$build/bench/line")" >>"$work/turns"
}

# narrow PAIRS: succeeds if the middle half of its ratios lies within a tenth.
narrow() {
    awk -v pairs="$1" '$1 == pairs { print $2 / $3 }' "$work/turns" | sort -n | awk '
        { ratio[NR] = $1 }
        END { low = int(NR / 4) + 1; exit !(ratio[NR + 1 - low] <= 1.1 * ratio[low]) }'
}

# Other libraries as MPICC:MPICXX:MPIEXEC. Programs are compiled as the library's users would.
peers=${PEERS:-}
for name in mpich openmpi; do
    command -v mpicc.$name >/dev/null && peers="$peers mpicc.$name:mpicxx.$name:mpiexec.$name"
done
# Open MPI needs these to run as root, or with more processes than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
patience=20  # seconds for a run

# each_peer COMMAND: calls COMMAND with PEER MPIEXEC NAME for each peer.
each_peer() {
    for peer in $peers; do
        mpiexec=${peer##*:}
        case $("$mpiexec" --version 2>&1 | head -n 20) in
            *HYDRA*Intel* | *Intel*) name="Intel MPI" ;;
            *HYDRA*) name=MPICH ;;
            *Open*MPI* | *OpenRTE*) name="Open MPI" ;;
            *) name=$mpiexec ;;
        esac
        "$@" "$peer" "$mpiexec" "$name" || echo "  ($name: failed: $(grep -m 1 . "$work/err"))"
    done
}
# run_peer COMMAND...: writes its output to $work/out, or that it took too long.
run_peer() {
    status=0
    timeout --kill-after=5 $patience "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    [ $status -ne 124 ] || echo "not done after $patience s" >"$work/out"
    [ $status -eq 0 ] || [ $status -eq 124 ]
}
peer_heat() {
    "${1%%:*}" -O3 -fopenmp "$source/examples/heat2d.c" -o "$work/heat2d" -lm 2>"$work/err" || return 1
    run_peer "$2" -n 2 "$work/heat2d" --threads 2 || return 1
    echo "$3: $(head -n 1 "$work/out")"
}
peer_rate() {
    mpicxx=${1#*:}
    "${mpicxx%%:*}" -std=c++20 -O3 "$source/bench/multirate.cpp" -o "$work/multirate" -pthread 2>"$work/err" || return 1
    for mode in threads processes; do
        ranks=2
        [ $mode = threads ] || ranks=8
        run_peer "$2" -n $ranks "$work/multirate" --mode $mode --pairs 4 --seconds 0.1 --repetitions 3 || return 1
        value=$(sed -n 's/^result .* rate=\([0-9.]*\).*/\1 M\/s/p' "$work/out")
        printf '  %-30s %s\n' "$3, 4 pairs of $mode" "${value:-$(cat "$work/out")}"
    done
}

echo "${bold}Heat on a plate: 2 processes, 2 threads each, every thread exchanging its own halo$plain"
"$build/bin/mpiexec" -n 2 "$build/examples/heat2d" --threads 2 </dev/null
each_peer peer_heat
echo
echo "${bold}Messages per second, 0 bytes, one communicator: threads against processes$plain"
disturbed=$(others)

: >"$work/turns"
enough=$(($(date +%s) + 45))  # the time after which three turns suffice
for pairs in 1 2 4; do
    turn=0
    while [ $turn -lt 3 ] || { [ $turn -lt 9 ] && [ "$(date +%s)" -lt $enough ] && ! narrow $pairs; }; do
        take_turns $pairs
        turn=$((turn + 1))
    done
done
[ "$disturbed" -gt 2 ] || disturbed=$(others)

awk -v bold="$bold" -v plain="$plain" -v threads="$green" -v processes="$blue" '
    function bar(mode, value,   text, k) {
        for (k = 0; k < int(50 * value / most + 0.5); ++k) text = text "█"
        return (mode == "threads" ? threads : processes) text plain
    }
    function sort_values(list, n,   i, k, one) {
        for (i = 2; i <= n; ++i)
            for (k = i; k > 1 && list[k - 1] > list[k]; --k) {
                one = list[k]; list[k] = list[k - 1]; list[k - 1] = one
            }
    }
    function middle(what, pairs,   i, list) {
        for (i = 1; i <= turns[pairs]; ++i) list[i] = value[what, pairs, i]
        sort_values(list, turns[pairs])
        least = list[1]; highest = list[turns[pairs]]
        return list[int((turns[pairs] + 1) / 2)]
    }
    {
        i = ++turns[$1]
        value["threads", $1, i] = $2; value["processes", $1, i] = $3; value["ratio", $1, i] = $2 / $3
    }
    END {
        for (n = 1; n <= 4; n *= 2) {
            of_threads[n] = middle("threads", n); of_processes[n] = middle("processes", n)
            if (of_threads[n] > most) most = of_threads[n]
            if (of_processes[n] > most) most = of_processes[n]
        }
        for (n = 1; n <= 4; n *= 2) {
            print ""
            printf "  2 x %d %-9s %s %.2f M/s\n", n, (n == 1 ? "thread" : "threads"), \
                bar("threads", of_threads[n]), of_threads[n]
            printf "  %5d %-9s %s %.2f M/s\n", 2 * n, "processes", bar("processes", of_processes[n]), of_processes[n]
        }
        ratio = middle("ratio", 4)
        printf "\n%s4 pairs of threads that share one communicator reach %.2f times the message rate of 4 pairs of " \
            "processes%s\n(%.2f to %.2f in %d pairs of turns, taken back to back).\n", bold, ratio, plain, \
            least, highest, turns[4]
    }' "$work/turns"
each_peer peer_rate

distances=$(awk '{ print $4 }' "$work/turns" | sort -n)
low=$(echo "$distances" | head -n 1) high=$(echo "$distances" | tail -n 1)
echo "A cache line went from core to core and back in $low to $high ns: $(regime "$low") to $(regime "$high") regime."
if [ "$disturbed" -gt 2 ]; then
    echo "Other programs kept $((disturbed / 10)).$((disturbed % 10)) cores busy: on a quiet machine the numbers are others."
fi

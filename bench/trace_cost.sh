#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The cost of an event of a trace: the calls of a message with and without mpiexec --trace, in turns. Prints medians.
#
#   trace_cost.sh PROGRAM MPIEXEC [TURNS]
#
# PROGRAM is the built trace_cost.c. MOST=NANOSECONDS in the environment: an event that takes more is a failure.
set -eu

[ $# -ge 2 ] || { sed -n '3,8p' "$0" >&2; exit 2; }
program=$1 mpiexec=$2 turns=${3:-7}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for turn in $(seq "$turns"); do
    "$mpiexec" -n 1 "$program" >>"$work/without"
    "$mpiexec" --trace "$work/trace.pftrace" -n 1 "$program" >>"$work/with"
done
events=$(sed -n '1s/.*events=//p' "$work/with")
median() { sed 's/message_ns=\([0-9.]*\).*/\1/' "$1" | sort -n | sed -n "$(((turns + 1) / 2))p"; }
awk -v with="$(median "$work/with")" -v without="$(median "$work/without")" -v events="$events" -v most="${MOST:-0}" '
    BEGIN {
        event = (with - without) / events
        printf "a message takes %.1f ns, traced %.1f ns: %.1f ns for each of %d events\n", without, with, event, events
        printf "result bench=trace_cost event_ns=%.1f message_ns=%.1f traced_ns=%.1f\n", event, without, with
        exit most > 0 && event > most
    }'

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# recipes_test.sh MPIEXEC PROGRAM: a wrong recipe ends the job with an error before any rank sends a message.
set -eu
mpiexec=$1 program=$2

# expect TEXT COMMAND...: the command fails and says TEXT.
expect() {
    text=$1
    shift
    if said=$("$@" 2>&1); then
        echo "succeeded: $*" >&2
        exit 1
    fi
    case $said in
        *"$text"*) ;;
        *) printf '%s\ndoes not say: %s\n' "$said" "$text" >&2; exit 1 ;;
    esac
}

run="$mpiexec --timeout 60 -n 1"
# shellcheck disable=SC2086
{
    expect "HEDDLE_ASSIGNMENT=tags: allowed are tag, communicator, dedicated, round-robin" \
        env HEDDLE_ASSIGNMENT=tags $run "$program"
    expect "HEDDLE_INSTANCES=3: allowed are auto, 1, 2, 4, 8, 16, 32, 64" env HEDDLE_INSTANCES=3 $run "$program"
    expect "there are no critical sections to be locked" env HEDDLE_LOCK=mcs $run "$program"
    expect "there are no critical sections to be waited for" env HEDDLE_TEST_LIMIT=1000 $run "$program"
    expect "that takes HEDDLE_CRITICAL_SECTION=brief-global or per-object" \
        env HEDDLE_CRITICAL_SECTION=global HEDDLE_REQUEST_POOLS=common $run "$program"
    expect "all ranks must have the same" $run env HEDDLE_INSTANCES=2 "$program" : -n 1 "$program"
    expect "HEDDLE_COLL_REDUCE=binomial" $run env HEDDLE_COLL_REDUCE=binomial "$program" : -n 1 "$program"
}
# Each thread has a row with the time that it has waited.
# shellcheck disable=SC2086
HEDDLE_CRITICAL_SECTION=global HEDDLE_COUNTERS=thread_lock $run "$program" 2>&1 >/dev/null |
    grep -A 1 "^  thread  thread_lock_acquisitions times  thread_lock_contended times  thread_lock_wait ns$" |
    grep -Eq "^ +0 +[1-9][0-9]* +[0-9]+ +[0-9]+$"
# A counter that a recipe does not count is not printed as 0.
# shellcheck disable=SC2086
HEDDLE_COUNTERS='^lock_|match_time' $run "$program" 2>&1 >/dev/null | grep -q "lock_wait: not counted: no locks"

# Ranks print advice only if asked.
# shellcheck disable=SC2086
HEDDLE_ADVICE=on $run "$program" 2>&1 >/dev/null | grep -q "heddle: advice to rank 0 of 1"
# shellcheck disable=SC2086
if $run "$program" 2>&1 | grep -q "advice"; then echo "advice without being asked" >&2; exit 1; fi

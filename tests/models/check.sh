#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# check.sh MODEL SCRATCH holds|fails [-DSWITCH...]
#
# Has Spin look for invalid end states. If the model is to hold, Spin searches all of it. If it is to fail, Spin
# searches random paths until it finds one. The exit code is 77 if there is no spin or no compiler here.

model=$1 scratch=$2 expected=$3
shift 3
command -v spin >/dev/null && command -v gcc >/dev/null || { echo "no spin or no gcc"; exit 77; }
rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch" || exit 1
spin "$@" -a "$model" >/dev/null || exit 1

if [ "$expected" = holds ]; then
    gcc -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=8000 -o pan pan.c || exit 1
    ./pan -m100000 -w24 >output 2>&1
    grep -E "^pan:|errors:|states, stored" output
    grep -q "errors: 0" output && ! grep -qE "out of memory|reached DMEMLIM|depth too small" output && exit 0
    test -e ./*.trail && spin "$@" -t -p -g "$model" | tail -80
    exit 1
fi

gcc -O2 -w -DSAFETY -DBITSTATE -DT_RAND -DP_RAND -o pan pan.c || exit 1
for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    ./pan -m4000 -w23 -RS$seed >output 2>&1
    if grep -q "^pan:1: invalid end state" output; then
        echo "found with seed $seed"
        grep -E "^pan:|states, stored" output
        exit 0
    fi
done
echo "the error was not found"
exit 1

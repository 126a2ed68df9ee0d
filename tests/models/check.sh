#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# check.sh MODEL SCRATCH holds|fails [-DSWITCH...]
#
# Has Spin check a model exhaustively for invalid end states; `fails`: it must find one.
# Exit code 77: there is no spin or no compiler here.

model=$1 scratch=$2 expected=$3
shift 3
command -v spin >/dev/null && command -v gcc >/dev/null || { echo "no spin or no gcc"; exit 77; }
rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch" || exit 1
spin "$@" -a "$model" >/dev/null || exit 1
gcc -O2 -w -DSAFETY -DNOFAIR -DCOLLAPSE -DVECTORSZ=4096 -o pan pan.c || exit 1
${HEDDLE_PAN:-./pan} -m200000 -w24 >output 2>&1
grep -E "^pan|errors:|states, stored|out of memory|max search depth" output
grep -qE "out of memory|max search depth too small" output && exit 1
case $expected in
    holds) grep -q "errors: 0" output || { spin "$@" -t -p -g "$model" | tail -80; exit 1; } ;;
    fails) grep -q "invalid end state" output || { echo "the error was not found"; exit 1; } ;;
esac

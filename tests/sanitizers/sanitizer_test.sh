#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# sanitizer_test.sh BUILD WORK SANITIZER RANKS EXPECTED PROGRAM [ARGUMENT...]
#
# Builds PROGRAM (a file of this folder) with mpicc or mpicxx and -fsanitize=SANITIZER. Runs it with the library as
# it is installed, without a suppression. EXPECTED is one of:
#
#     clean    the program ends well, and the sanitizer says nothing
#     TEXT     the program ends badly, and the sanitizer says TEXT
set -eu
here=$(dirname "$0")
build=$1 work=$2 sanitizer=$3 ranks=$4 expected=$5 program=$6
shift 6

rm -rf "$work"
mkdir -p "$work"
case $program in
    *.cpp) compile="$build/bin/mpicxx -std=c++17" ;;
    *) compile=$build/bin/mpicc ;;
esac

# ThreadSanitizer needs its addresses where it expects them; some containers forbid to ask for that.
fixed=
if setarch "$(uname -m)" -R true 2>/dev/null; then fixed="setarch $(uname -m) -R"; fi

# It is no fault of the library if the machine has no such sanitizer, or if that does not work.
echo 'int main(void) { return 0; }' >"$work/nothing.c"
if ! cc "-fsanitize=$sanitizer" "$work/nothing.c" -o "$work/nothing" || ! $fixed "$work/nothing"; then
    echo "no program runs with -fsanitize=$sanitizer here"
    exit 77
fi

# shellcheck disable=SC2086
$compile -g -O1 "-fsanitize=$sanitizer" "$here/$program" -o "$work/program"
status=0
# shellcheck disable=SC2086
said=$($fixed "$build/bin/mpiexec" --timeout 200 -n "$ranks" "$work/program" "$@" 2>&1) || status=$?
printf '%s\n' "$said"
case $expected in
    clean)
        case $said in *Sanitizer*) exit 1 ;; esac
        exit $status ;;
    *)
        case $said in *"$expected"*) ;; *) echo "does not say: $expected"; exit 1 ;; esac
        if [ $status -eq 0 ]; then echo "ended well"; exit 1; fi ;;
esac

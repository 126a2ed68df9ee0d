#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a program under valgrind's memcheck, which looks for leaks in all that a rank has mapped. It must find no
# error, and come to an end before the watchdog of the test.
#
#     memcheck.sh MPIEXEC PROGRAM
set -eu
command -v valgrind >/dev/null || { echo "valgrind is not installed"; exit 77; }
exec "$1" -n 2 valgrind --quiet --tool=memcheck --leak-check=full --errors-for-leak-kinds=definite \
    --error-exitcode=9 "$2"

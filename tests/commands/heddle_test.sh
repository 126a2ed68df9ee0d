#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# heddle_test.sh PREFIX: the command `heddle` of the installation at PREFIX.
set -eu
prefix=$(cd "$1" && pwd -P)
unset LD_LIBRARY_PATH
info=$("$prefix/bin/heddle" info)
echo "$info"
case $info in *"MPI 5.0, ABI 1.0"*) ;; *) echo "FAILED: no version" >&2; exit 1 ;; esac
case $info in *"$prefix"/*) ;; *) echo "FAILED: another library was loaded" >&2; exit 1 ;; esac

# The count and the list agree.
listed=$("$prefix/bin/heddle" info --unsupported | wc -l)
case $info in *" $((listed)) unsupported"*) ;; *) echo "FAILED: $listed are listed" >&2; exit 1 ;; esac

if "$prefix/bin/heddle" nonsense 2>/dev/null; then echo "FAILED: nonsense was accepted" >&2; exit 1; fi

# Every collective has a line that fits any call.
[ "$("$prefix/bin/heddle" info --collectives | grep -c '^[A-Z][a-z_]* *any *any ')" -ge 17 ] ||
    { echo "FAILED: the table of collectives" >&2; exit 1; }

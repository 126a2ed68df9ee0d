#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# heddle_test.sh PREFIX WORK: tests the command `heddle` of the installation at PREFIX, and the counters that ranks
# print. WORK is a folder for programs.
set -eu
prefix=$(cd "$1" && pwd -P)
unset LD_LIBRARY_PATH
info=$("$prefix/bin/heddle" info)
echo "$info"
# The last line says whether the build has left something out, as the last line of an installation does.
case $(echo "$info" | tail -n 1) in
"  build          "*"left out: "* | "  build          nothing is left out"*) ;;
*) echo "FAILED: what was left out is not said" >&2; exit 1 ;;
esac
case $info in *"MPI 5.0, ABI 1.0"*) ;; *) echo "FAILED: no version" >&2; exit 1 ;; esac
case $info in *"$prefix"/*) ;; *) echo "FAILED: another library was loaded" >&2; exit 1 ;; esac

# The count and the list agree.
listed=$("$prefix/bin/heddle" info --unsupported | wc -l)
case $info in *" $((listed)) unsupported"*) ;; *) echo "FAILED: $listed are listed" >&2; exit 1 ;; esac

# Without arguments it prints its help.
said=$("$prefix/bin/heddle") || { echo "FAILED: heddle alone is an error" >&2; exit 1; }
[ "$said" = "$("$prefix/bin/heddle" --help)" ] || { echo "FAILED: heddle alone: $said" >&2; exit 1; }
case $said in *"info "*"locks "*) ;; *) echo "FAILED: heddle alone: $said" >&2; exit 1 ;; esac
"$prefix/bin/heddle" --version | grep -Eqx 'Heddle [0-9]+\.[0-9]+\.[0-9]+' || { echo "FAILED: the version" >&2; exit 1; }

# The knobs, each with the source of its value.
fail() { echo "FAILED: $*" >&2; exit 1; }
unset HEDDLE_EAGER_LIMIT HEDDLE_SINGLE_COPY HEDDLE_COUNTERS
"$prefix/bin/heddle" info --knobs | grep -Eq '^HEDDLE_EAGER_LIMIT +bytes +8192 +8192 +default ' || fail "knobs"
HEDDLE_SINGLE_COPY=never "$prefix/bin/heddle" info --knobs |
    grep -Eq '^HEDDLE_SINGLE_COPY +choice +never +auto +environment ' || fail "knob from the environment"
if wrong=$(HEDDLE_EAGER_LIMIT=9000 "$prefix/bin/heddle" info --knobs 2>&1); then fail "a wrong knob is no error"; fi
case $wrong in *"HEDDLE_EAGER_LIMIT=9000: allowed are bytes from 0 to 8192"*) ;; *) fail "wrong knob: $wrong" ;; esac
"$prefix/bin/heddle" info --counters | grep -Eq '^sent_messages +messages +counter ' || fail "counters"

# The manual page says the same.
page=$(find "$prefix" -name heddle.7)
[ -n "$page" ] || fail "no manual page"
"$prefix/bin/heddle" info --manual | cmp -s - "$page" || fail "the manual page is not current"

# Ranks print their counters at the end, one table for each rank, and print nothing unless asked.
mkdir -p "$2"
cat >"$2/ring.c" <<'END'
#include <mpi.h>
int main(void) {
    int rank, size, token = 0;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
END
"$prefix/bin/mpicc" "$2/ring.c" -o "$2/ring"
said=$("$prefix/bin/mpiexec" --timeout 60 --counters -n 3 "$2/ring" 2>&1)
for rank in 0 1 2; do
    case $said in *"heddle: counters of rank $rank of 3"*) ;; *) fail "rank $rank says nothing: $said" ;; esac
done
[ "$(echo "$said" | grep -Ec '^  sent_messages +[1-9][0-9]* messages$')" = 3 ] || fail "counters: $said"
if echo "$said" | grep -Eq ' 0 [a-z]+$'; then fail "zeroes are listed: $said"; fi
said=$(HEDDLE_COUNTERS='^self_' "$prefix/bin/mpiexec" --timeout 60 -n 1 "$2/ring" 2>&1)
[ "$(echo "$said" | wc -l)" = 3 ] || fail "a selection: $said"
said=$("$prefix/bin/mpiexec" --timeout 60 -n 2 "$2/ring" 2>&1)
[ -z "$said" ] || fail "not asked for: $said"

# The doctor's findings about this machine, our program, a script, and another mpiexec before ours in PATH.
said=$(PATH="$prefix/bin:$PATH" "$prefix/bin/heddle" doctor "$2/ring") || fail "doctor: $said"
for line in "ok       library        $prefix/lib/libmpi_abi.so" "ok       mpiexec        $prefix/bin/mpiexec" \
    "ok       shared memory " "single copy " "membarrier " "cores " "ok       program        $2/ring needs libmpi_abi.so.1 and finds $prefix/lib"; do
    case $said in *"$line"*) ;; *) fail "doctor lacks '$line': $said" ;; esac
done
mkdir -p "$2/strangers"
printf '#!/bin/sh\n' >"$2/strangers/mpiexec"
chmod +x "$2/strangers/mpiexec"
if said=$(PATH="$2/strangers:$prefix/bin:$PATH" "$prefix/bin/heddle" doctor "$2/ring.c"); then fail "doctor is content: $said"; fi
case $said in *"PROBLEM  mpiexec        $2/strangers/mpiexec is found first"*"-> export PATH=$prefix/bin:"*) ;; *) fail "doctor: $said" ;; esac
case $said in *"PROBLEM  program        $2/ring.c: a script"*) ;; *) fail "doctor on no program: $said" ;; esac
case $(PATH="$prefix/bin:$2/strangers:$PATH" "$prefix/bin/heddle" doctor) in *"other MPIs     also in PATH: $2/strangers/mpiexec"*) ;;
*) fail "doctor does not tell of a stranger behind us" ;; esac
if said=$(ulimit -n 100; PATH="$prefix/bin:$PATH" "$prefix/bin/heddle" doctor); then fail "doctor on limits: $said"; fi
case $said in *"PROBLEM  open files     at most 100"*"-> ulimit -n "*) ;; *) fail "doctor on limits: $said" ;; esac

# More ranks than can share memory: the error names the limit.
if said=$("$prefix/bin/mpiexec" -n 5000 "$2/ring" 2>&1); then fail "5000 ranks"; fi
case $said in
*"5000 ranks are too many for one machine: at most 4096"* | *"cannot start 5000 ranks: "*) ;;
*) fail "5000 ranks: $said" ;;
esac

# Locks, all of them or some.
said=$("$prefix/bin/heddle" locks --threads 3 --seconds 0.005 --repetitions 1)
[ "$(echo "$said" | grep -Ec '^result bench=locks lock=[a-z-]+ threads=3 lines=10 passing_ns=[0-9.]+ slowest=')" = 20 ] ||
    fail "locks: $said"
said=$("$prefix/bin/heddle" locks --lock mcs,p-mcs-hmcs --threads 1 --seconds 0.005 --repetitions 1)
[ "$(echo "$said" | grep -c '^result')" = 2 ] || fail "two locks: $said"
if said=$("$prefix/bin/heddle" locks --lock none 2>&1); then fail "a lock of no name was accepted"; fi
case $said in *"none not in {mutex,ticket,mcs,hmcs,"*) ;; *) fail "a lock of no name: $said" ;; esac
if "$prefix/bin/heddle" locks --threads 0 2>/dev/null; then fail "no thread was accepted"; fi

if "$prefix/bin/heddle" nonsense 2>/dev/null; then echo "FAILED: nonsense was accepted" >&2; exit 1; fi

# Every collective has a line that fits any call.
[ "$("$prefix/bin/heddle" info --collectives | grep -c '^[A-Z][a-z_]* *any *any ')" -ge 17 ] ||
    { echo "FAILED: the table of collectives" >&2; exit 1; }
[ "$("$prefix/bin/heddle" info --copies | grep -Ec '^(generic|amd_25|amd_26|intel_6_167) ')" -eq 4 ] &&
    HEDDLE_COPIES=amd_26 "$prefix/bin/heddle" info --copies | grep -qx 'In use here: amd_26' ||
    { echo "FAILED: the table of copies" >&2; exit 1; }

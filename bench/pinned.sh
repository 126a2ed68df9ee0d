#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pinned.sh [--host] PROGRAM...: becomes PROGRAM on a core of its own, before the library looks at its cores. The rank,
# under any launcher, is the number of the core among those that may be used. With --host the ranks of a host share
# one: the number at the end of the host's name.
set -eu

[ $# -gt 0 ] || { sed -n '3,5p' "$0" >&2; exit 2; }
if [ "$1" = --host ]; then
    shift
    rank=$(hostname | sed 's/.*[^0-9]//' | awk '{ print $1 - 1 }')
else
    rank=${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:?pinned.sh: no launcher names a rank}}}
fi
cores=$(taskset --cpu-list --pid $$ | sed 's/.*: //' | tr ',' '\n' |
    awk -F- '{ for (core = $1; core <= $NF; ++core) print core }')
# shellcheck disable=SC2086
set -- $(echo $cores | awk -v rank="$rank" '{ print $(rank % NF + 1) }') "$@"
core=$1
shift
exec taskset --cpu-list "$core" "$@"

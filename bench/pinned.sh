#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pinned.sh PROGRAM...: becomes PROGRAM on a core of its own: that of its rank among those that may be used,
# whichever launcher has started it, and before the library looks at its cores.
set -eu

[ $# -gt 0 ] || { sed -n '3,4p' "$0" >&2; exit 2; }
rank=${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:?pinned.sh: no launcher names a rank}}}
cores=$(taskset --cpu-list --pid $$ | sed 's/.*: //' | tr ',' '\n' |
    awk -F- '{ for (core = $1; core <= $NF; ++core) print core }')
# shellcheck disable=SC2086
set -- $(echo $cores | awk -v rank="$rank" '{ print $(rank % NF + 1) }') "$@"
core=$1
shift
exec taskset --cpu-list "$core" "$@"

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ahead.sh PROGRAM...: becomes PROGRAM, for which on node2 the machine has been running a day longer than it has.
[ "$(uname -n)" != node2 ] || set -- unshare --time --monotonic 86400 --boottime 86400 --fork --kill-child "$@"
exec "$@"

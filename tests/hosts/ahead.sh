#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ahead.sh PROGRAM...: becomes PROGRAM. On node2 PROGRAM sees a machine that has been running for a day longer than it has.
[ "$(uname -n)" != node2 ] || set -- unshare --time --monotonic 86400 --boottime 86400 --fork --kill-child "$@"
exec "$@"

